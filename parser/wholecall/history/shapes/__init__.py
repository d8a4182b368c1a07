"""The shapes of histories, one module for each wire: its reader, and the writer of a turn that goes back."""
