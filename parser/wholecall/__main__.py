"""`python -m wholecall` is the program `wholecall`."""

from __future__ import annotations

import sys

from wholecall.cli import main

if __name__ == "__main__":
    sys.exit(main())
