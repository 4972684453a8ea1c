"""The entry points of the installed commands. Each imports its own module alone, so that a tool starts in 50 ms."""

from __future__ import annotations


def kraftctl() -> int:
    from tools.kraftctl.main import main

    return main()


def kraft_pipeline() -> int:
    from pipeline.commands.main import main

    return main()


def kafka_storage() -> int:
    from tools.kafka.storage import main

    return main()


def kafka_dump_log() -> int:
    from tools.kafka.dump_log.dump_log import main

    return main()


def kafka_metadata_shell() -> int:
    from tools.kafka.shell.metadata_shell import main

    return main()


def kafka_metadata_quorum() -> int:
    from tools.kafka.metadata_quorum import main

    return main()


def kafka_features() -> int:
    from tools.kafka.features import main

    return main()


def kafka_cluster() -> int:
    from tools.kafka.cluster import main

    return main()


def kafka_leader_election() -> int:
    from tools.kafka.leader_election import main

    return main()


def kafka_acls() -> int:
    from tools.kafka.acls.acls import main

    return main()


def kafka_delegation_tokens() -> int:
    from tools.kafka.delegation_tokens import main

    return main()


def kafka_topics() -> int:
    from tools.kafka.topics.topics import main

    return main()


def kafka_reassign_partitions() -> int:
    from tools.kafka.reassign.reassign_partitions import main

    return main()


def kafka_configs() -> int:
    from tools.kafka.configs.configs import main

    return main()


def kafka_broker_api_versions() -> int:
    from tools.kafka.broker_api_versions import main

    return main()
