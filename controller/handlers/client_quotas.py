"""AlterClientQuotas (KIP-546)."""

from __future__ import annotations

from math import isfinite, isnan
from typing import TYPE_CHECKING, Any

from controller.interface.results import Result, at_once, check_record_count, raised_text
from controller.state.tables.quotas import entity_of
from records.errors import ApiError, Error
from records.java_order import hash_order
from records.messages.quotas import AlterClientQuotasResponse
from records.metadata.configs import ClientQuotaRecord

if TYPE_CHECKING:
    from collections.abc import Mapping

    from controller.interface.env import Env
    from controller.interface.inputs import RequestContext
    from controller.state.state import State
    from controller.state.tables.quotas import Entity
    from records.messages.quotas import AlterClientQuotasRequest

    Parts = dict[str, str | None]

EntryResult = AlterClientQuotasResponse.EntryData

USER, CLIENT_ID, IP = "user", "client-id", "ip"
TYPES = (USER, CLIENT_ID, IP)
_INT_MAX, _LONG_MAX = 2**31 - 1, 2**63 - 1
# Key -> the name of its type in Java and the greatest value; None for any number.
_USER_KEYS: dict[str, tuple[str, int] | None] = {
    "producer_byte_rate": ("LONG", _LONG_MAX),
    "consumer_byte_rate": ("LONG", _LONG_MAX),
    "request_percentage": None,
    "controller_mutation_rate": None,
}
_IP_KEYS: dict[str, tuple[str, int] | None] = {"connection_creation_rate": ("INT", _INT_MAX)}
_FRACTION_MAX = 1e-6
IPV4_LENGTH_MAX = 15
HEX_DIGITS = frozenset("0123456789abcdefABCDEF")


def idle(
    _state: State, _context: RequestContext, request: AlterClientQuotasRequest, _env: Env
) -> AlterClientQuotasResponse | None:
    """The answer to a request that names no entity; None for others."""
    return None if request.entries else AlterClientQuotasResponse(throttle_time_ms=0, entries=())


def alter_client_quotas(state: State, context: RequestContext, request: AlterClientQuotasRequest, env: Env) -> Result:
    """AlterClientQuotas: the quotas of each entity are changed or refused on their own; one batch."""
    empty = idle(state, context, request, env)
    if empty is not None:
        return at_once(empty)
    records: list[tuple[Any, int]] = []
    results: dict[Entity, tuple[Parts, ApiError | None]] = {}
    for entry in request.entries:
        env.slices.pause()
        parts: Parts = {part.entity_type: part.entity_name for part in entry.entity}
        key = entity_of(parts)
        try:
            records += changes(state, env, parts, entry.ops, is_known=key in results)
            results[key] = parts, None
        except ApiError as error:
            results[key] = parts, error
        check_record_count(len(records))
    entries = []
    for parts, refused in results.values():
        env.slices.pause()
        entity = tuple(
            EntryResult.EntityData(entity_type=type_, entity_name=parts[type_])
            for type_ in hash_order(parts, len(parts))
        )
        code, text = (Error.NONE, None) if refused is None else (refused.code, raised_text(refused))
        entries.append(EntryResult(error_code=code, error_message=text, entity=entity))
    response = AlterClientQuotasResponse(throttle_time_ms=0, entries=tuple(entries))
    return Result(response, () if request.validate_only else records, state.quotas.last_change())


def changes(state: State, env: Env, parts: Parts, ops: Any, *, is_known: bool) -> list[tuple[Any, int]]:
    """The records that change one entity's quotas. is_known: whether the request named it before.

    Raises ApiError(INVALID_REQUEST).
    """
    values: dict[str, float | None] = {}
    is_twice = False
    for op in ops:
        is_twice = is_twice or op.key in values
        values.setdefault(op.key, None if op.remove else op.value)
    if is_known or is_twice:
        raise invalid(f"Ignoring duplicate entity {entity_text(parts)}")
    check_entity(parts)
    keys = keys_of(parts)
    current: Mapping[str, float] = state.quotas.get(entity_of(parts), {})
    records: list[tuple[Any, int]] = []
    for key in hash_order(values, len(ops)):
        value = values[key]
        if value is None:
            if key in current:
                records.append((ClientQuotaRecord(entity=entity_data(parts), key=key, value=0.0, remove=True), 0))
            continue
        if not (env.release.infinite_quotas or isfinite(value)) and key in keys:
            raise invalid(f"Quota {key} must be a finite number")
        check_value(keys, key, value)
        if not _is_same(current.get(key), value):
            records.append((ClientQuotaRecord(entity=entity_data(parts), key=key, value=value, remove=False), 0))
    return records


def _is_same(old: float | None, new: float) -> bool:
    """As Java's Double.equals: NaN is NaN."""
    return old is not None and (old == new or (isnan(old) and isnan(new)))


def invalid(text: str) -> ApiError:
    return ApiError(Error.INVALID_REQUEST, text)


def entity_text(parts: Parts) -> str:
    listed = ", ".join(f"{key}={'null' if parts[key] is None else parts[key]}" for key in hash_order(parts, len(parts)))
    return f"ClientQuotaEntity(entries={{{listed}}})"


def entity_data(parts: Parts) -> tuple[ClientQuotaRecord.EntityData, ...]:
    return tuple(
        ClientQuotaRecord.EntityData(entity_type=type_, entity_name=parts[type_]) for type_ in hash_order(parts, 3)
    )


def check_entity(parts: Parts) -> None:
    """Raises ApiError(INVALID_REQUEST) for an invalid entity type or name."""
    if not parts:
        raise invalid("Invalid empty client quota entity")
    for type_ in hash_order(parts, len(parts)):
        if type_ not in TYPES:
            raise invalid(f"Unhandled client quota entity type: {type_}")
        if parts[type_] == "":
            raise invalid(f"Empty {type_} not supported")


def keys_of(parts: Parts) -> Mapping[str, tuple[str, int] | None]:
    """The quotas that an entity of these types can have. Raises ApiError(INVALID_REQUEST)."""
    if IP not in parts:
        return _USER_KEYS
    if len(parts) > 1:
        raise invalid("Invalid quota entity combination, IP entity shouldnot be combined with User or ClientId")
    if not is_ip(parts[IP]):
        raise invalid(f"{parts[IP]} is not a valid IP or resolvable host.")
    return _IP_KEYS


def is_ip(text: str | None) -> bool:
    """Whether this is an IP address as Java reads it, or None for the default. Stock also accepts host names that it
    can resolve; this controller does not query name servers.
    """
    if text is None or text.lower() == "localhost":
        return True
    if ":" in text:
        return is_ipv6(text[1:-1] if text.startswith("[") and text.endswith("]") else text)
    return is_ipv4(text)


def is_ipv4(text: str) -> bool:
    """One to four decimal numbers, with or without zeros before them; the last fills all bytes that are left."""
    parts = text.split(".")
    if len(text) > IPV4_LENGTH_MAX or len(parts) > 4 or not all(part.isascii() and part.isdigit() for part in parts):
        return False
    return all(int(part) < 256 for part in parts[:-1]) and int(parts[-1]) < 256 ** (5 - len(parts))


def is_ipv6(text: str) -> bool:
    """Eight hexadecimal groups, `::` for one or more of them, an IPv4 address for the last two, a number as zone."""
    text, percent, zone = text.partition("%")
    halves = text.split("::")
    if len(halves) > 2 or (percent and not (zone.isascii() and zone.isdigit())):
        return False
    groups = [group for half in halves if half for group in half.split(":")]
    count = len(groups)
    if groups and groups[-1].count(".") == 3 and is_ipv4(groups[-1]) and not text.endswith(":"):
        groups.pop()
        count += 1
    if not all(HEX_DIGITS.issuperset(group) and group and int(group, 16) < 65536 for group in groups):
        return False
    return count < 8 if len(halves) == 2 else count == 8


def check_value(keys: Mapping[str, tuple[str, int] | None], key: str, value: float) -> None:
    """Raises ApiError(INVALID_REQUEST)."""
    if key not in keys:
        raise invalid(f"Invalid configuration key {key}")
    if value <= 0.0:
        raise invalid(f"Quota {key} must be greater than 0")
    integral = keys[key]
    if integral is None:
        return
    type_name, greatest = integral
    if value > float(greatest):
        raise invalid(f"Proposed value for {key} is too large for {'an' if type_name == 'INT' else 'a'} {type_name}.")
    if value % 1.0 > _FRACTION_MAX:
        raise invalid(f"{key} cannot be a fractional value.")
