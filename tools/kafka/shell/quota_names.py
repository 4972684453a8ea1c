"""The names of client quota entities in the tree: `clientId(x)_user(y)`."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from controller.state.tables.quotas import Entity

# Type in records: its name here, sorted by name.
_TYPES = {"client-id": "clientId", "ip": "ip", "user": "user"}


def entity_name(entity: Entity) -> str:
    """The name of an entity; parts that are the default of their type are left out, so the name may be empty."""
    parts = dict(entity)
    return "_".join(
        f"{shown}({_escape(name)})" for kind, shown in _TYPES.items() if (name := parts.get(kind)) is not None
    )


def _escape(name: str) -> str:
    return name.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")


def named_entity(text: str) -> Entity | None:
    """The entity of a name; None if it is not the name of one."""
    parts: dict[str, str | None] = {}
    position = 0
    while True:
        for kind, shown in _TYPES.items():
            if text.startswith(f"{shown}(", position):
                name, position = _read_name(text, position + len(shown) + 1)
                if name is None:
                    return None
                parts[kind] = name
                break
        else:
            return None
        if position == len(text):
            return tuple(sorted(parts.items(), key=lambda part: part[0]))
        if text[position] != "_":
            return None
        position += 1


def _read_name(text: str, position: int) -> tuple[str | None, int]:
    """The text up to the closing parenthesis, and the position after it."""
    name = ""
    while position < len(text):
        character = text[position]
        position += 1
        if character == ")":
            return name, position
        if character == "\\":
            if position == len(text):
                break
            character = text[position]
            position += 1
        name += character
    return None, position
