"""Tools: the definitions that the model was given, and the check of a call's arguments."""
