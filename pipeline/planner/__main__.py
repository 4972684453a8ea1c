"""`python -m pipeline.planner`: the same as `kraft-pipeline plan`; it needs no Spark."""

from __future__ import annotations

import sys
from argparse import ArgumentParser

from pipeline.planner import command

if __name__ == "__main__":
    parser = ArgumentParser(prog=f"python -m {__package__}", description=command.HELP)
    command.add_arguments(parser)
    sys.exit(command.run(parser.parse_args()))
