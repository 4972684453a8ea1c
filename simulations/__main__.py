"""`python -m simulations`: see `simulations.commands`."""

from __future__ import annotations

import sys

from records.extras import install_command

# What the extra `simulations` adds.
EXTRA = {"greenlet", "msgpack"}

if __name__ == "__main__":
    try:
        from simulations.commands.main import main

        sys.exit(main())
    except ModuleNotFoundError as error:
        if error.name not in EXTRA:
            raise
        sys.exit(f"python -m simulations: {error.name} is not installed; {install_command('simulations')}")
