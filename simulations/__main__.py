"""`python -m simulations`: see `simulations.commands`."""

from __future__ import annotations

import sys

from simulations.commands.main import main

if __name__ == "__main__":
    sys.exit(main())
