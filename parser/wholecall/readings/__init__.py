"""What the fragments of a choice can mean where labels lie."""

from wholecall.readings.partitions import Piece, final_name
from wholecall.readings.solve import ReadCall, Solution, solve

__all__ = ["Piece", "ReadCall", "Solution", "final_name", "solve"]
