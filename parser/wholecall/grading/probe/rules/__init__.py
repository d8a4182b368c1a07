"""The rules of three wires: each with its severity, quirks, source and check."""
