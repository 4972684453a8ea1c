"""Properties files are read as Java reads them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from records.java.properties import PropertiesError, parse_properties

DATA = Path(__file__).parents[2] / "data" / "kafka-configs"


def utf16(text: str) -> str:
    return text.encode("utf-16-be", "surrogatepass").hex()


def ours(data: bytes) -> str:
    try:
        found = parse_properties(data)
    except PropertiesError:
        return "error"
    return "ok " + "".join(sorted(f"{utf16(key)}={utf16(value)};" for key, value in found.items()))


def test_java_reads_the_same_from_each_of_900_files() -> None:
    different = []
    for line in (DATA / "properties.tsv").read_text().splitlines():
        data, _, answer = line.partition("\t")
        verdict, _, rest = answer.partition(" ")
        stock = (
            "error" if verdict == "error" else "ok " + "".join(sorted(f"{part};" for part in rest.split(";") if part))
        )
        if ours(bytes.fromhex(data)) != stock:
            different.append((bytes.fromhex(data), stock))

    assert different == []


def test_the_forms_of_a_line() -> None:
    text = b"# comment\n! another\n\n a = b \nc:d\ne f\ng\\ h=\\u0041\\t\\\\\nlong=1,\\\n     2\nlatin=\xe9\na=again"

    assert parse_properties(text) == {
        "c": "d",
        "e": "f",
        "g h": "A\t\\",
        "long": "1,2",
        "latin": "é",
        "a": "again",
    }


def test_a_character_outside_of_the_basic_plane_is_two_escapes() -> None:
    assert parse_properties(b"a=\\uD83D\\uDE00") == {"a": "😀"}


def test_a_malformed_escape_is_refused_with_its_line() -> None:
    with pytest.raises(PropertiesError) as error:
        parse_properties(b"a=1\nb=\\u12")

    assert str(error.value) == "Malformed \\uxxxx encoding in line 2: \\u12"


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    ours(data)
