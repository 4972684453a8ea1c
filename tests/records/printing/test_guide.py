"""The printed guide has every message, and a description of every field."""

from __future__ import annotations

import pytest

from records.printing.guide import (
    PRIMITIVES,
    api_table,
    error_table,
    fields_of,
    guide_of,
    meaning,
    meanings,
    type_name,
    whole_guide,
)
from records.registry import APIS, every_name, find_class
from records.schema import is_struct, schema_of


def test_every_message_and_every_field_is_described() -> None:
    for name in every_name():
        cls = find_class(name)
        head, own = meanings(cls)
        first, last = schema_of(cls).versions

        assert head.endswith((".", ").")), name
        assert head != name
        paths = {path for version in range(first, last + 1) for path, _ in fields_of(cls, version)}
        for path in paths:
            assert meaning(path, own).endswith("."), (name, path)
        for note in own:
            assert any(path == note or path.endswith(f".{note}") for path in paths), f"{name} tells of {note}"


def test_every_type_that_is_printed_is_explained() -> None:
    explained = {name for name, _ in PRIMITIVES} | {"NULLABLE_RECORDS", "COMPACT_NULLABLE_RECORDS"}

    for name in every_name():
        schema = schema_of(find_class(name))
        for version in range(schema.versions[0], schema.versions[1] + 1):
            for _, field in fields_of(schema.cls, version):
                if not is_struct(field.element):
                    assert type_name(field, version, schema.is_flexible(version)) in explained


def test_one_version_of_an_api_is_printed_with_headers_and_fields() -> None:
    assert (
        guide_of("Heartbeat", 4)
        == """\
### Heartbeat API (Key: 12)

**Requests.** A member says that it is still there, in a classic group (KIP-345).

```
Heartbeat Request (Version: 4) => { group_id generation_id member_id group_instance_id }
  group_id => COMPACT_STRING
  generation_id => INT32
  member_id => COMPACT_STRING
  group_instance_id => COMPACT_NULLABLE_STRING
```

Request header version: 2

| Field | Description |
| --- | --- |
| group_id | The group. |
| generation_id | The generation of a classic group; -1 for none. |
| member_id | The member. |
| group_instance_id | The name of a static member; null for others. |

**Responses.** Says whether the member may go on, or must rejoin.

```
Heartbeat Response (Version: 4) => { throttle_time_ms error_code }
  throttle_time_ms => INT32
  error_code => INT16
```

Response header version: 1

| Field | Description |
| --- | --- |
| throttle_time_ms | How long the client shall wait, for the sake of a quota; 0 for not at all. |
| error_code | What went wrong; 0 for nothing. |"""
    )


def test_an_api_is_found_by_name_key_and_message_in_any_case() -> None:
    assert guide_of("fetch", 4) == guide_of("1", 4) == guide_of("FetchRequest", 4) == guide_of("FetchResponse", 4)


def test_all_versions_that_4x_serves_are_printed() -> None:
    printed = guide_of("Fetch")

    assert [f"Fetch Request (Version: {version})" in printed for version in range(19)] == [False] * 4 + [True] * 15


def test_an_api_that_is_no_longer_served_is_marked() -> None:
    assert "No node of Kafka 4.x serves this API." in guide_of("LeaderAndIsr")
    assert "LeaderAndIsr Request (Version: 0)" in guide_of("LeaderAndIsr")


def test_a_record_is_printed_with_its_type() -> None:
    assert guide_of("TopicRecord").startswith("### TopicRecord (Type: 2)\n\nA topic was made (KIP-631, KIP-516).")
    assert "=> { }" in guide_of("NoOpRecord")


@pytest.mark.parametrize(
    ("name", "version", "message"),
    [
        ("Fetc", None, "there is no API or message 'Fetc'; `guide` without a name lists all"),
        ("Fetch", 99, "FetchRequest has versions 0 to 18, not 99"),
        ("TopicRecord", 1, "TopicRecord has versions 0 to 0, not 1"),
    ],
)
def test_an_unknown_name_is_refused(name: str, version: int | None, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        guide_of(name, version)


def test_the_tables_have_a_row_for_each_key_and_code() -> None:
    assert len(api_table().splitlines()) == len(APIS) + 2
    assert "| LeaderAndIsr | 4 | none | 4+ |" in api_table()
    assert "| Fetch | 1 | 4-18 | 12+ |" in api_table()
    assert "| NOT_CONTROLLER | 41 | True | This is not the correct controller for this cluster. |" in error_table()


def test_the_whole_guide_is_complete() -> None:
    printed = "\n".join(whole_guide())

    for name in every_name():
        stem = name.removesuffix("Request").removesuffix("Response")
        assert f"{stem} API" in printed or f"### {name}" in printed, name
