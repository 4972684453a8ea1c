"""`kraftctl VERB …`: finds the verb's module, and imports nothing else."""

from __future__ import annotations

import sys

# verb: (module, what it does)
VERBS = {
    "start": ("controller.ctl.start", "run one node from a controller.properties"),
    "container": ("controller.ctl.container", "run one node in a container, configured by its environment"),
    "status": ("controller.ctl.status", "who leads a quorum, and how far each voter has come"),
    "wait": ("controller.ctl.wait", "wait until a quorum has a leader and its voters have caught up"),
    "probe": ("controller.ctl.probe", "whether the node here is live, started or ready, for a health check"),
    "up": ("controller.ctl.up", "run a quorum of three controllers here"),
}


def usage() -> str:
    lines = ["usage: kraftctl VERB [-h] …", "", "verbs:"]
    lines += [f"  {verb:<10} {what}" for verb, (_, what) in VERBS.items()]
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    """Run a verb; its exit code. A verb that is none: usage on stderr, 1."""
    given = sys.argv[1:] if arguments is None else arguments
    if given and given[0] in {"-h", "--help", "help"}:
        print(usage())
        return 0
    if not given or given[0] not in VERBS:
        what = f"kraftctl: there is no verb {given[0]!r}\n\n" if given else ""
        print(what + usage(), file=sys.stderr)
        return 1
    from importlib import import_module

    return int(import_module(VERBS[given[0]][0]).run(given[1:]))


if __name__ == "__main__":
    sys.exit(main())
