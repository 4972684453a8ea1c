"""The entry points of the installed commands. Each imports its own module alone, so that a tool starts in 50 ms."""

from __future__ import annotations


def kraftctl() -> int:
    from controller.ctl.main import main

    return main()


def kraft_pipeline() -> int:
    from pipeline.commands.main import main

    return main()


def kafka_storage() -> int:
    from controller.tools.storage import main

    return main()


def kafka_dump_log() -> int:
    from controller.tools.dump_log import main

    return main()


def kafka_metadata_shell() -> int:
    from controller.tools.metadata_shell import main

    return main()
