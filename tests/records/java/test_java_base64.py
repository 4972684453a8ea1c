"""Base64 as Java decodes it: the texts are those of `java.util.Base64` in Java 17."""

import pytest

from records.java.java_base64 import standard_bytes, url_safe_bytes


def test_each_alphabet_is_decoded_with_or_without_padding() -> None:
    assert [standard_bytes(text) for text in (b"", b"YWJj", b"+/8", b"+/8=", b"YQ==", b"YQ")] == [
        b"", b"abc", b"\xfb\xff", b"\xfb\xff", b"a", b"a",
    ]  # fmt: skip
    assert url_safe_bytes(b"-_8") == b"\xfb\xff"


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        (b"Y", "Input byte[] should at least have 2 bytes for base64 bytes"),
        (b"YW Jj", "Illegal base64 character 20"),
        (b"YWJ-", "Illegal base64 character 2d"),
        (b"YWJjZ", "Last unit does not have enough valid bits"),
        (b"YWJj=", "Input byte array has wrong 4-byte ending unit"),
    ],
)
def test_what_is_no_base64_is_refused_in_javas_words(text: bytes, refused: str) -> None:
    with pytest.raises(ValueError) as raised:  # noqa: PT011 - its text is compared
        standard_bytes(text)

    assert str(raised.value) == refused
