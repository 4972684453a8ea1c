"""Requests of admin clients about configs: of topics, of all brokers, and the levels of a controller's loggers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from records.messages.configs import DescribeConfigsRequest, IncrementalAlterConfigsRequest
from simulations.cluster.metadata.member_rules import UNCLEAN

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulations.cluster.clients.admins import Admin

Configs = tuple[tuple[str, str], ...]

# The keys that are set, and those that are read.
VALUES = {"retention.ms": ("1000", "60000"), "segment.bytes": ("1048576", "2097152"), "min.insync.replicas": ("1", "2")}
KEYS = tuple(VALUES)
READ = (*KEYS, UNCLEAN)
OF_BROKERS = {"log.cleaner.threads": ("1", "2"), "background.threads": ("5", "12"), "num.io.threads": ("8", "9")}
LOGGER = 8
ALL = ""


def configs(admin: Admin) -> Configs:
    """Some keys of a topic with values."""
    keys = sorted({KEYS[int(admin.rng.random() * len(KEYS))] for _ in range(2)})
    return tuple((key, VALUES[key][int(admin.rng.random() * 2)]) for key in keys)


def configure(admin: Admin) -> None:
    name = admin.topic()
    changes = tuple((key, None if admin.rng.random() < 0.3 else value) for key, value in configs(admin))
    admin.ask_one(("configure", name, changes), admin.tries())


def replace(admin: Admin) -> None:
    """Replace all configs of a topic (AlterConfigs)."""
    admin.ask_one(("replace", admin.topic(), configs(admin)), admin.tries())


def read(admin: Admin) -> None:
    admin.ask_one(("read", admin.topic()), keys=READ)


def configure_brokers(admin: Admin) -> None:
    """Set a config of all brokers, of one, or of a controller; those of all brokers are read back."""
    key = admin.one_of(tuple(OF_BROKERS))
    value = None if admin.rng.random() < 0.3 else admin.one_of(OF_BROKERS[key])
    of = ALL if admin.rng.random() < 0.7 else admin.one_of([machine.id for machine in admin.run.brokers])
    admin.ask_one(("configure broker", of, ((key, value),)), admin.tries())


def read_brokers(admin: Admin) -> None:
    admin.ask_one(("read broker", ALL), keys=tuple(OF_BROKERS))


def levels(admin: Admin) -> None:
    """Change the level of a logger of the controller that gets the request, or read all levels."""
    node = str(admin.client.target)
    if admin.rng.random() < 0.4:
        described = DescribeConfigsRequest.DescribeConfigsResource
        loggers = described(resource_type=LOGGER, resource_name=node, configuration_keys=None)
        admin.ask_only(DescribeConfigsRequest(resources=(loggers,)))
        return
    altered = IncrementalAlterConfigsRequest.AlterConfigsResource
    level = altered.AlterableConfig(
        name="root", config_operation=0, value=admin.one_of(("DEBUG", "INFO", "WARN", "TRACE"))
    )
    resource = altered(resource_type=LOGGER, resource_name=node, configs=(level,))
    admin.ask_only(IncrementalAlterConfigsRequest(resources=(resource,), validate_only=False))


ASKS: dict[str, Callable[[Admin], None]] = {
    "configure": configure,
    "replace": replace,
    "read": read,
    "configure_brokers": configure_brokers,
    "read_brokers": read_brokers,
    "levels": levels,
}
