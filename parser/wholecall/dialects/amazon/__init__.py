"""Amazon Bedrock: Converse, and the envelope in which other dialects come."""

_private = True
