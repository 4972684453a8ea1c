"""How fast a user or a client may create and delete partitions: `controller_mutation_rate` (KIP-599).

Each user or client, as the quotas distinguish them, has a bucket of tokens. It fills at the rate of the quota, up to
`controller.quota.window.num` × `controller.quota.window.size.seconds` seconds of it; each created or deleted partition
takes a token. A request whose version knows THROTTLING_QUOTA_EXCEEDED is refused while the bucket is overdrawn; one of
an older version is served, and its answer has the time to wait. One request can overdraw the bucket.

The buckets are of this node alone, and not in the log: after a failover they are full, as in stock.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from math import floor
from typing import TYPE_CHECKING, Any

from records.errors import ApiError, Error
from records.schema import replace

if TYPE_CHECKING:
    from collections.abc import Mapping

    from controller.interface.env import Env
    from controller.interface.inputs import RequestContext
    from controller.state.state import State
    from controller.state.tables.quotas import Entity

# API key -> the first version whose topics are refused: CreateTopics, DeleteTopics, CreatePartitions.
STRICT_SINCE = {19: 6, 20: 5, 37: 3}

# Stock drops a bucket that was not used for this long.
IDLE_MS_MAX = 3_600_000
# Peers choose their client ids: beyond this many buckets, those that are full, then the oldest, are dropped.
BUCKETS_MAX = 8192
_NAME_LENGTH_MAX = 256
# A rate near 0 would give an infinite time.
THROTTLE_MS_MAX = 1 << 62

_USER, _CLIENT_ID = "user", "client-id"


@dataclass(slots=True)
class Bucket:
    """tokens: negative while overdrawn. at_ms: when they were counted. taken_ms: when some were taken last."""

    tokens: float
    at_ms: int
    taken_ms: int


def charge(state: State, context: RequestContext, env: Env, partitions: int) -> None:
    """Take a token for each partition that a request creates or deletes, from the bucket of its sender.

    Raises ApiError(THROTTLING_QUOTA_EXCEEDED), with nothing taken, where the bucket is overdrawn and the version of the
    request is strict. Where the sender is to wait, `context.throttled_until_ms` says until when.
    """
    if context.is_own or env.settings.has_static_quotas:
        return
    # Also where there is no rate: one may have been removed, and that may not be committed.
    context.is_charged = True
    rates = state.quotas.mutation_rates
    if not rates:
        return
    user, client_id = bucket_key(rates, context.principal.name, context.client_id)
    rate = rate_of(rates, user, client_id)
    buckets = env.mutation_buckets
    key = user, _short(client_id)
    if rate is None:
        buckets.pop(key, None)
        return
    now_ms = env.now_ms
    burst = rate * env.settings.controller_quota_window_num * env.settings.controller_quota_window_size_seconds
    bucket = buckets.get(key)
    if bucket is None or now_ms - bucket.taken_ms > IDLE_MS_MAX:
        _make_room(buckets, now_ms, env)
        bucket = buckets[key] = Bucket(burst, now_ms, now_ms)
    bucket.tokens = min(burst, bucket.tokens + rate * ((now_ms - bucket.at_ms) / 1000))
    bucket.at_ms = now_ms
    is_strict = context.version >= STRICT_SINCE[context.api_key]
    if not (is_strict and bucket.tokens < 0):
        bucket.tokens -= partitions
        bucket.taken_ms = now_ms
        if context.is_long:
            context.charges.append((bucket, partitions))
        if is_strict:
            return
    if bucket.tokens < 0:
        context.throttled_until_ms = now_ms + floor(min(-bucket.tokens / rate * 1000 + 0.5, THROTTLE_MS_MAX))
        if is_strict:
            raise ApiError(Error.THROTTLING_QUOTA_EXCEEDED)


def refund(context: RequestContext) -> None:
    """Put back what a request has taken, before it is served again."""
    for bucket, partitions in context.charges:
        bucket.tokens += partitions
    context.charges.clear()
    context.throttled_until_ms = 0
    context.is_charged = False


def quotas_change(state: State, context: RequestContext) -> int:
    """The offset that an answer without records depends on by the quotas; -1 where `charge` has looked at none."""
    return state.quotas.last_change() if context.is_charged else -1


def with_throttle(context: RequestContext, response: Any, now_ms: int) -> Any:
    """The response with the throttle time in ms."""
    left_ms = context.throttled_until_ms - now_ms
    # Java's int: a wait of more than 24 days is any number.
    left_ms = (left_ms + 2**31) % 2**32 - 2**31
    return replace(response, throttle_time_ms=max(left_ms, 0))


def bucket_key(rates: Mapping[Entity, float], user: str, client_id: str | None) -> tuple[str, str | None]:
    """The key of a sender's bucket: user and client id, or one of them, the other being empty."""
    kinds = {tuple(kind for kind, _ in entity) for entity in rates}
    if len(kinds) == 1:
        (only,) = kinds
        return user if _USER in only else "", client_id if _CLIENT_ID in only else ""
    for named_user in (user, None):
        if _both(named_user, client_id) in rates or _both(named_user, None) in rates:
            return user, client_id
        if ((_USER, named_user),) in rates:
            return user, ""
    return "", client_id


def rate_of(rates: Mapping[Entity, float], user: str, client_id: str | None) -> float | None:
    """Partitions a second that a sender may create and delete; None for any number."""
    if client_id is None:
        return None
    candidates: list[Entity] = []
    if user and client_id:
        candidates = [_both(u, c) for u in (user, None) for c in (client_id, None)]
    elif user:
        candidates = [((_USER, user),), ((_USER, None),)]
    elif client_id:
        candidates = [((_CLIENT_ID, client_id),), ((_CLIENT_ID, None),)]
    return next((rates[entity] for entity in candidates if entity in rates), None)


def _both(user: str | None, client_id: str | None) -> Entity:
    return (_CLIENT_ID, client_id), (_USER, user)


def _short(client_id: str | None) -> str:
    """A name for the bucket that no peer can make long."""
    if client_id is None or len(client_id) <= _NAME_LENGTH_MAX:
        return client_id or ""
    return sha256(client_id.encode("utf-8", "surrogatepass")).hexdigest()


def _make_room(buckets: dict[Any, Bucket], now_ms: int, env: Env) -> None:
    if len(buckets) < BUCKETS_MAX:
        return
    # One without debt has filled up within the window: as good as none.
    window_ms = env.settings.controller_quota_window_num * env.settings.controller_quota_window_size_seconds * 1000
    for key, bucket in list(buckets.items()):
        idle_ms = now_ms - bucket.taken_ms
        if idle_ms > IDLE_MS_MAX or (bucket.tokens >= 0 and now_ms - bucket.at_ms >= window_ms):
            del buckets[key]
    if len(buckets) >= BUCKETS_MAX:
        del buckets[min(buckets, key=lambda key: buckets[key].taken_ms)]
