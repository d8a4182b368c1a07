"""From what a dialect reports to the events of whole calls: who owns a fragment, which phase a call is in, when it comes out."""

_private = True
