"""Many recordings at once: a pure function from rows to rows, and the tables that come of it; needs the extra `bulk`."""

from wholecall.bulk.schema import ASSEMBLED, CALLS, RECORDINGS

__all__ = ["ASSEMBLED", "CALLS", "RECORDINGS"]
