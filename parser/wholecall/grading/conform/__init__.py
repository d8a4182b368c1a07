"""The runner of the conformance suite: cases, clients, verdicts, results."""
