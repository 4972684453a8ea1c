"""The schema language: a message is a class whose annotations are its wire types, one class for all versions.

    @message(api_key=56, kind="request", versions=(0, 3), flexible=0)
    class AlterPartitionRequest:
        broker_id: int32
        broker_epoch: int64 = -1
        topics: array[TopicData]

`since`, `until` and `tagged_field` say in which versions a field is on the wire, and how. Outside them it has its
default. Instances have slots, keyword arguments and equality by value, and are taken as immutable. Nothing is generated
when a message module is imported: a constructor is made at the first instance, a codec at its first use
(`records.codec`).
"""

from __future__ import annotations

from records.wire import TYPE_CHECKING, Array, Nullable, Primitive

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, TypeVar, dataclass_transform

    T = TypeVar("T")
else:

    def dataclass_transform(**_):
        return lambda decorator: decorator


LATEST = 32767
REQUIRED: Any = type("Required", (), {"__repr__": lambda _: "required", "__slots__": ()})()


class Field:
    """One field of a struct: its type, its versions, and what it is when it is absent.

    since, until: first and last version on the wire, inclusive. tag: None for an ordinary field; tagged fields are
    tagged in all of their versions. null_since, null_until: the versions in which None may be written; null_since is
    LATEST + 1 where never. ignorable: a value that the version lacks is dropped in place of refused. compact: False
    for the one string, a header's client id, whose length stays an int16 in flexible versions. formerly: the JSON name
    that the field had up to a version, and that version, where Kafka 4.4 renamed it. shared: an array of structs
    without bytes, of which encoders keep the bytes of a `Shared` one.
    """

    __slots__ = (
        "compact", "default", "element", "formerly", "ignorable", "is_array", "json_name", "name", "null_since",
        "null_until", "required", "shared", "since", "tag", "type", "until",
    )  # fmt: skip

    def __init__(
        self,
        default: object = REQUIRED,
        since: int = 0,
        until: int = LATEST,
        *,
        tag: int | None = None,
        ignorable: bool = False,
        null_since: int | None = None,
        null_until: int | None = None,
        compact: bool = True,
        formerly: tuple[str, int] | None = None,
        shared: bool = False,
    ) -> None:
        self.default = default
        self.since = since
        self.until = until
        self.tag = tag
        self.ignorable = ignorable
        self.compact = compact
        self.formerly = formerly
        self.shared = shared
        self.null_since = LATEST + 1 if null_since is None else null_since
        self.null_until = until if null_until is None else null_until
        self.name = self.json_name = ""
        self.type: Any = None
        self.element: Any = None
        self.is_array = False
        self.required = False

    def bind(self, name: str, annotation: Any) -> None:
        """Take the field's name and type from its annotation."""
        self.name = name
        self.json_name = json_name(name)
        if isinstance(annotation, Nullable):
            if self.null_since > LATEST:
                self.null_since = self.since
            annotation = annotation.inner
        self.type = self.element = annotation
        if isinstance(annotation, Array):
            self.is_array = True
            self.element = annotation.element
        self.required = self.default is REQUIRED
        if self.required:
            self.default = self.implicit()

    def implicit(self) -> object:
        """The default that Kafka gives where the schema names none: 0, empty, all zeros, a struct of defaults."""
        if self.is_array:
            return ()
        if isinstance(self.type, Primitive):
            return self.type.implicit
        return None  # a struct's default is made at first use: see `default_of`

    def at(self, version: int) -> bool:
        """Whether the field is on the wire in this version."""
        return self.since <= version <= self.until

    def json_name_at(self, version: int) -> str:
        """The name in the JSON form of this version."""
        return self.formerly[0] if self.formerly and version <= self.formerly[1] else self.json_name

    def nullable_at(self, version: int) -> bool:
        return self.null_since <= version <= self.null_until

    def default_of(self) -> object:
        """The value of the field where it is absent."""
        if self.default is None and is_struct(self.type) and self.null_since > LATEST:
            self.default = default_of(self.type)
        return self.default


class Shared(tuple["Any", ...]):
    """An array of a field that is `shared`, for many messages: it is encoded once for each version."""

    def __init__(self, _elements: Iterable[Any] = ()) -> None:
        # By field and version.
        self.encoded: dict[str, bytes] = {}


class Schema:
    """What a message class says about its bytes.

    kind: `request`, `response`, `metadata`, `data`, `header`, or `struct` for a struct inside another. versions: all
    that the codec knows, inclusive. served: those that Kafka 4.x still serves; None where it serves none. flexible:
    the first flexible version, LATEST + 1 where there is none. decoders and encoders: functions by version, generated
    when first used (`records.codec`).
    """

    __slots__ = (
        "api_key", "careful_decoders", "cls", "decoders", "encoders", "fields", "flexible", "kind", "lenient_decoders",
        "name", "part_encoders", "served", "versions",
    )  # fmt: skip

    def __init__(
        self,
        cls: type,
        fields: tuple[Field, ...],
        *,
        kind: str,
        api_key: int | None,
        versions: tuple[int, int],
        served: tuple[int, int] | None,
        flexible: int | None,
    ) -> None:
        self.cls = cls
        self.name = cls.__name__
        self.fields = fields
        self.kind = kind
        self.api_key = api_key
        self.versions = versions
        self.served = served
        self.flexible = LATEST + 1 if flexible is None else flexible
        self.decoders: dict[int, Any] = {}
        self.careful_decoders: dict[int, Any] = {}
        self.lenient_decoders: dict[int, Any] = {}
        self.encoders: dict[int, Any] = {}
        self.part_encoders: dict[int, Any] = {}

    def is_flexible(self, version: int) -> bool:
        return version >= self.flexible

    def at(self, version: int) -> tuple[Field, ...]:
        """The fields on the wire in this version, tagged ones too, in the order of the schema."""
        return tuple(field for field in self.fields if field.at(version))


class Message:
    """What message classes and their inner structs share; `@message` and `@struct` put it under the class."""

    __slots__ = ("unknown_tags",)
    __schema__: Schema

    unknown_tags: tuple[tuple[int, bytes], ...]

    def __init__(self, *args: object, **kwargs: object) -> None:
        make_constructor(type(self))
        type(self).__init__(self, *args, **kwargs)

    def __eq__(self, other: object) -> bool:
        make_equality(type(self))
        return type(self).__eq__(self, other)

    def __hash__(self) -> int:
        return hash((type(self), *(getattr(self, field.name) for field in self.__schema__.fields)))

    def __repr__(self) -> str:
        values = ", ".join(
            f"{field.name}={getattr(self, field.name)!r}"
            for field in self.__schema__.fields
            if field.required or getattr(self, field.name) != field.default_of()
        )
        return f"{type(self).__name__}({values})"


# The field specifiers return Any, as dataclasses.field does: the annotation is the type.


def since(version: int, /, *, default: object, until: int = LATEST, **options: Any) -> Any:
    """A field on the wire from `version` on (up to `until`, inclusive)."""
    return Field(default, version, until, **options)


def until(version: int, /, *, default: object, **options: Any) -> Any:
    """A field on the wire from version 0 to `version`, inclusive."""
    return Field(default, 0, version, **options)


def tagged_field(
    tag: int, /, *, default: object = REQUIRED, since: int = 0, until: int = LATEST, **options: Any
) -> Any:
    """A tagged field (KIP-482): left out of the bytes where it equals its default."""
    return Field(default, since, until, tag=tag, **options)


def field(*, default: object = REQUIRED, **options: Any) -> Any:
    """A field in all versions that is ignorable, or may be None in some of them."""
    return Field(default, **options)


@dataclass_transform(kw_only_default=True, field_specifiers=(since, until, tagged_field, field))
def struct(cls: type[T]) -> type[T]:
    """A struct inside a message. Its versions and flexibility are those of the message around it."""
    return _build(cls, kind="struct", api_key=None, versions=(0, LATEST), served=None, flexible=None)


@dataclass_transform(kw_only_default=True, field_specifiers=(since, until, tagged_field, field))
def message(
    *,
    kind: str,
    versions: tuple[int, int],
    flexible: int | None,
    api_key: int | None = None,
    served: tuple[int, int] | None = (-1, -1),
) -> Callable[[type[T]], type[T]]:
    """A request, response, record or other top-level message; see `Schema` for the arguments."""

    def decorate(cls: type[T]) -> type[T]:
        spoken = versions if served == (-1, -1) else served
        return _build(cls, kind=kind, api_key=api_key, versions=versions, served=spoken, flexible=flexible)

    return decorate


def _build(
    cls: type[T],
    *,
    kind: str,
    api_key: int | None,
    versions: tuple[int, int],
    served: tuple[int, int] | None,
    flexible: int | None,
) -> type[T]:
    annotations = cls.__annotations__
    fields = []
    members = dict(cls.__dict__)
    for name, annotation in annotations.items():
        given = members.pop(name, REQUIRED)
        spec = given if isinstance(given, Field) else Field(given)
        spec.bind(name, annotation)
        fields.append(spec)
    members.pop("__dict__", None)
    members.pop("__weakref__", None)
    members["__slots__"] = tuple(annotations)
    built: Any = type(cls.__name__, (Message,), members)
    built.__qualname__ = cls.__qualname__
    built.__schema__ = Schema(
        built, tuple(fields), kind=kind, api_key=api_key, versions=versions, served=served, flexible=flexible
    )
    return built  # type: ignore[no-any-return]


def schema_of(cls: type) -> Schema:
    """The schema of a message class or inner struct."""
    schema = getattr(cls, "__schema__", None)
    if not isinstance(schema, Schema):
        raise TypeError(f"{cls!r} is not a message class")
    return schema


def is_struct(type_: object) -> bool:
    return isinstance(type_, type) and issubclass(type_, Message)


def default_of(cls: type[T]) -> T:
    """An instance in which each field, required ones too, has its default."""
    return cls(**{field.name: field.default_of() for field in schema_of(cls).fields})


def replace(value: T, **changes: object) -> T:
    """A copy with some fields changed."""
    fields = {field.name: getattr(value, field.name) for field in schema_of(type(value)).fields}
    fields["unknown_tags"] = value.unknown_tags  # type: ignore[attr-defined]
    return type(value)(**{**fields, **changes})


def json_name(name: str) -> str:
    """The name in Kafka's JSON form: `kraft_version_feature` is `kRaftVersionFeature`."""
    words = "".join(word.capitalize() for word in name.split("_")).replace("Kraft", "KRaft")
    return words[0].lower() + words[1:]


def make_constructor(cls: type) -> None:
    """Give the class its specialised `__init__`: keywords, or the fields in schema order, then `unknown_tags`."""
    fields = schema_of(cls).fields
    names: dict[str, object] = {"REQUIRED": REQUIRED}
    parameters = []
    lines = []
    for number, field in enumerate(fields):
        if field.required:
            parameters.append(f"{field.name}")
        else:
            names[f"d{number}"] = field.default_of()
            parameters.append(f"{field.name}=d{number}")
        lines.append(f"    self.{field.name} = {field.name}")
    # A required field may follow one with a default, which Python's grammar allows to keywords alone: so a required
    # field after such a one gets a default too, and its absence is found in the body.
    seen_default = False
    for number, field in enumerate(fields):
        if field.required and seen_default:
            parameters[number] = f"{field.name}=REQUIRED"
            lines.append(f"    if {field.name} is REQUIRED:")
            lines.append(f"        raise TypeError('{cls.__name__}() lacks the required field {field.name}')")
        seen_default = seen_default or not field.required
    source = "\n".join(
        [f"def __init__(self, {', '.join([*parameters, 'unknown_tags=()'])}):", *lines,
         "    self.unknown_tags = unknown_tags"]
    )  # fmt: skip
    exec(source, names)  # noqa: S102 - source made above, of the names of fields
    constructor: Any = names["__init__"]
    constructor.__qualname__ = f"{cls.__qualname__}.__init__"  # for errors about missing arguments
    cls.__init__ = constructor  # type: ignore[misc]


def make_equality(cls: type) -> None:
    """Give the class its specialised `__eq__`: an encoder compares tagged structs with their defaults by it."""
    names = [*(field.name for field in schema_of(cls).fields), "unknown_tags"]
    same = " and ".join(f"self.{name} == other.{name}" for name in names)
    source = (
        "def __eq__(self, other):\n"
        "    if type(self) is not type(other):\n"
        "        return NotImplemented\n"
        f"    return {same}\n"
    )
    namespace: dict[str, Any] = {}
    exec(source, namespace)  # noqa: S102 - source made above, of the names of fields
    cls.__eq__ = namespace["__eq__"]  # type: ignore[method-assign]
