"""Text that is not ours, for a terminal: names, values and messages from a log, a node or a client."""

from __future__ import annotations


def plain_text(text: object, keep: str = "") -> str:
    r"""The text on one line, each character that is not printable as `\x1b`, `\n` or `\u202e`.

    Not printable are control characters (C0 and C1, so U+009B too), format characters (those that turn the direction of
    writing), separators of lines, and what Unicode does not define: a terminal may obey them, or show another text than
    the one that is there. A backslash stays as it is, so the form is for reading; JSON has the exact text.
    keep: characters that stay, such as line breaks.
    """
    text = str(text)
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() or each in keep else ascii(each)[1:-1] for each in text)
