"""Chat completions: chunks, the answers that they belong to, and the translator."""

_private = True
