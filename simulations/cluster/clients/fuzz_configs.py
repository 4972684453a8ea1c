"""Requests of fuzz clients about configs, for every type of resource."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from records.messages.configs import AlterConfigsRequest, DescribeConfigsRequest, IncrementalAlterConfigsRequest
from simulations.cluster.clients import fuzz_topics as clerk_topics
from simulations.cluster.clients.fuzz_values import draw_value
from simulations.nodes.config_values import (
    APPEND,
    BROKER,
    BY_KIND,
    CLIENT_METRICS,
    DELETE,
    GROUP,
    LISTS,
    LOGGER,
    NODE_LOGGERS,
    SET,
    SUBTRACT,
    TOPIC,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulations.cluster.clients.fuzz_clients import FuzzClient

# The known types, one that takes no configs here, and two unknown ones.
KINDS = (TOPIC, TOPIC, TOPIC, BROKER, BROKER, CLIENT_METRICS, GROUP)
NO_KINDS = (0, 99, 64)
WRONG = 0.08
LOGGERS = (*NODE_LOGGERS, "no.such")

Incremental = IncrementalAlterConfigsRequest.AlterConfigsResource
Whole = AlterConfigsRequest.AlterConfigsResource


def resource(fuzz: FuzzClient, kind: int) -> str:
    """The name of a resource of a type."""
    if kind == TOPIC:
        return clerk_topics.name(fuzz)
    if kind in (BROKER, LOGGER):
        ids = [*(machine.id for machine in fuzz.run.brokers), *fuzz.run.plan.voter_ids, fuzz.client.target]
        return str(fuzz.one_of((*ids, "", "", "me", -1, clerk_topics.NOBODY, "99999999999")))
    return str(fuzz.one_of(("one", "one", "two", "")))


def alter(fuzz: FuzzClient) -> IncrementalAlterConfigsRequest:
    resources = fuzz.some(1, 2, _changes)
    return IncrementalAlterConfigsRequest(resources=resources, validate_only=fuzz.happens(0.1))


def _changes(fuzz: FuzzClient) -> Any:
    kind = _kind(fuzz)
    keys = BY_KIND.get(kind, BY_KIND[TOPIC])
    configs = {}
    for key in fuzz.some(1, 3, lambda each: each.one_of((*keys, "no.such.key"))):
        operation = fuzz.one_of((SET, SET, SET, DELETE))
        if fuzz.happens(0.5 if key in LISTS else 0.03):
            operation = fuzz.one_of((APPEND, SUBTRACT, APPEND, SUBTRACT, 9))
        value = draw_value(fuzz, kind, key, WRONG) if key in keys and kind in BY_KIND else "1"
        configs[key] = Incremental.AlterableConfig(
            name=key, config_operation=operation, value=None if operation == DELETE else value
        )
    return Incremental(resource_type=kind, resource_name=resource(fuzz, kind), configs=tuple(configs.values()))


def _kind(fuzz: FuzzClient) -> int:
    return int(fuzz.one_of(NO_KINDS if fuzz.happens(0.05) else KINDS))


def replace(fuzz: FuzzClient) -> AlterConfigsRequest:
    """Replace all configs of a resource."""
    return AlterConfigsRequest(resources=fuzz.some(1, 2, _whole), validate_only=fuzz.happens(0.1))


def _whole(fuzz: FuzzClient) -> Any:
    kind = fuzz.one_of((*KINDS, LOGGER)) if fuzz.happens(0.9) else _kind(fuzz)
    keys = dict.fromkeys(fuzz.some(0, 3, lambda each: each.one_of(tuple(BY_KIND.get(kind, ())) or ("root",))))
    configs = tuple(
        Whole.AlterableConfig(name=key, value=draw_value(fuzz, kind, key, WRONG) if kind in BY_KIND else "INFO")
        for key in keys
    )
    name = resource(fuzz, kind)
    if kind == BROKER and not name:
        name = str(fuzz.run.brokers[0].id)  # cluster-wide configs are set by the admins, which track them
    return Whole(resource_type=kind, resource_name=name, configs=configs)


def levels(fuzz: FuzzClient) -> IncrementalAlterConfigsRequest:
    """Levels of loggers, some of which do not exist."""

    def level(each: FuzzClient) -> Any:
        operation = each.one_of((SET, SET, SET, DELETE, APPEND, 9))
        value = each.one_of(("DEBUG", "INFO", "WARN", "LOUD", None))
        return Incremental.AlterableConfig(name=each.one_of(LOGGERS), config_operation=operation, value=value)

    of = str(fuzz.client.target) if fuzz.happens(0.8) else resource(fuzz, LOGGER)
    one = Incremental(resource_type=LOGGER, resource_name=of, configs=fuzz.some(1, 2, level))
    return IncrementalAlterConfigsRequest(resources=(one,), validate_only=fuzz.happens(0.1))


def describe(fuzz: FuzzClient) -> DescribeConfigsRequest:
    wanted = DescribeConfigsRequest.DescribeConfigsResource

    def one(each: FuzzClient) -> Any:
        kind = each.one_of((*KINDS, LOGGER)) if each.happens(0.97) else _kind(each)
        keys = None if each.happens(0.5) else each.some(0, 3, lambda it: it.one_of(tuple(BY_KIND.get(kind, ("root",)))))
        return wanted(resource_type=kind, resource_name=resource(each, kind), configuration_keys=keys)

    return DescribeConfigsRequest(
        resources=fuzz.some(1, 3, one), include_synonyms=fuzz.happens(0.5), include_documentation=fuzz.happens(0.2)
    )


ASKS: tuple[Callable[[FuzzClient], Any], ...] = (alter, alter, replace, levels, describe, describe)
