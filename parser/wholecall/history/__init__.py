"""What goes back to a provider: calls encoded for any transport, arguments shrunk without breaking them."""

from wholecall.history.encode import encode_arguments
from wholecall.history.ids import CallIds
from wholecall.history.messages import Encoded, encode_calls
from wholecall.history.shrink import Shrunk, shrink_arguments
from wholecall.history.transports import TRANSPORTS, Transport, transport_named

__all__ = [
    "TRANSPORTS",
    "CallIds",
    "Encoded",
    "Shrunk",
    "Transport",
    "encode_arguments",
    "encode_calls",
    "shrink_arguments",
    "transport_named",
]
