"""From deltas to events: which call a fragment belongs to, which phase a call is in, and when it is emitted."""

_private = True
