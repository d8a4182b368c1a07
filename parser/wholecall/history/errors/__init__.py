"""The classification of the errors with which providers answer a conversation."""
