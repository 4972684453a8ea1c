"""Whole numbers and paths as Java reads them."""

from __future__ import annotations

import pytest

from records.java.java_forms import integer, path


@pytest.mark.parametrize(("text", "bits"), [("2147483647", 32), ("-2147483648", 32), ("+9223372036854775807", 64)])
def test_the_bounds_of_a_type_are_numbers_of_it(text: str, bits: int) -> None:
    assert integer(text, bits) == int(text)


@pytest.mark.parametrize(("text", "bits"), [("2147483648", 32), ("-2147483649", 32), ("1_0", 32), (" 1", 64), ("", 64)])
def test_what_java_refuses_is_refused_with_its_text(text: str, bits: int) -> None:
    with pytest.raises(ValueError, match=f'^For input string: "{text}"$'):
        integer(text, bits)


def test_a_path_has_no_double_slash_and_none_at_its_end() -> None:
    assert [path(text) for text in ("/a//b///c/", "//", "/", "a/", "")] == ["/a/b/c", "/", "/", "a", ""]
