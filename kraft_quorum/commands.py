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


def kafka_metadata_quorum() -> int:
    from controller.tools.admin.metadata_quorum import main

    return main()


def kafka_features() -> int:
    from controller.tools.admin.features import main

    return main()


def kafka_cluster() -> int:
    from controller.tools.admin.cluster import main

    return main()


def kafka_leader_election() -> int:
    from controller.tools.admin.leader_election import main

    return main()


def kafka_acls() -> int:
    from controller.tools.admin.acls import main

    return main()


def kafka_delegation_tokens() -> int:
    from controller.tools.admin.delegation_tokens import main

    return main()


def kafka_topics() -> int:
    from controller.tools.admin.topics import main

    return main()


def kafka_reassign_partitions() -> int:
    from controller.tools.admin.reassign_partitions import main

    return main()


def kafka_configs() -> int:
    from controller.tools.admin.configs import main

    return main()


def kafka_broker_api_versions() -> int:
    from controller.tools.admin.broker_api_versions import main

    return main()
