"""The command `wholecall report`: a report's sections, as text for a terminal and as a page."""
