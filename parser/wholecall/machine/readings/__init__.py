"""Readings of a choice's fragments where labels are wrong: `solve` for chat, `solve_book` for marked pieces."""

from wholecall.machine.readings.books import solve_book
from wholecall.machine.readings.marked import Book
from wholecall.machine.readings.partitions import Piece, final_name
from wholecall.machine.readings.solve import MOST, ReadCall, Solution, solve

__all__ = ["MOST", "Book", "Piece", "ReadCall", "Solution", "final_name", "solve", "solve_book"]
