"""Where a line of help or of an error may be broken, as in Java's `BreakIterator.getLineInstance`.

Both option parsers of Kafka's tools use it to lay out their texts. Its rules are a regular expression over classes of
characters: a run of words, the spaces after them, a line end. Here they are a nondeterministic automaton, which reads
the text once, so the time is linear in the length of any text.
"""

from __future__ import annotations

from functools import cache

# The classes of a character, one letter each; a character may have several. The letters:
#   b ends a line    r carriage return   s space      g glue (no-break space)   e enclosing or non-spacing mark
#   p before a word  w behind a word     h dash       d digit                   m inside a number
#   c in a word      k one word alone (Kanji, Kana, Hangul)    ( ) parentheses  j joins two words    i ignored
_ASCII = {
    **dict.fromkeys(map(chr, (*range(32), 127)), "s"),
    **dict.fromkeys("\x03\t\f\n", "b"),
    "\r": "r",
    " ": "s",
    "-": "h",
    **dict.fromkeys("[{", "p"),
    **dict.fromkeys("]}!%:;?", "w"),
    **dict.fromkeys("0123456789", "dc"),
    **dict.fromkeys("$'", "pj"),
    **dict.fromkeys(".,", "wm"),
    '"': "pw",
    "(": "p(",
    ")": "w)",
}
_GLUE = "\u00a0\u0f0c\u2007\u2011\u202f\ufeff"
_POST_WORD = (
    "\u00a2\u00b0\u066a\u2030\u2031\u2032\u2033\u2034\u2103\u2105\u2109\u3001\u3002\u3005\u3041\u3043\u3045\u3047\u3049"
    "\u3063\u3083\u3085\u3087\u308e\u3099\u309a\u309b\u309c\u309d\u309e\u30a1\u30a3\u30a5\u30a7\u30a9\u30c3\u30e3\u30e5"
    "\u30e7\u30ee\u30f5\u30f6\u30fc\u30fd\u30fe\uff01\uff05\uff0c\uff0e\uff1a\uff1b\uff1f"
)
_KANJI = (("\u3041", "\u3094"), ("\u30a1", "\u30fa"), ("\u4e00", "\u9fa5"), ("\uac00", "\ud7a3"), ("\uf900", "\ufa6a"))
_BY_CATEGORY = {
    "Mn": "i", "Me": "e", "Cf": "i", "Zs": "s", "Cc": "s", "Pd": "h", "Sc": "p", "Ps": "p", "Pi": "p", "Pe": "w",
    "Pf": "w", "Nd": "dc", "No": "dc", "Zl": "b", "Zp": "b",
}  # fmt: skip

# state: (the states reached without reading, the states reached by reading a class)
_STATES: dict[str, tuple[str, dict[str, str]]] = {
    "before word": ("in word, number sign", {"p": "before word", "k": "word end"}),
    "in word": ("word end", {"c": "in word"}),
    "number sign": ("", {"p": "number sign", "h": "number sign", "d": "in number"}),
    "in number": ("word end", {"d": "in number", "m": "number point"}),
    "number point": ("", {"d": "in number"}),
    "word end": ("between words", {"h": "dashes", "w": "endings"}),
    "dashes": ("between words", {"h": "dashes"}),
    "endings": ("between words", {"w": "endings"}),
    "between words": ("spaces", {"j": "before word", "s": "spaces before glue", "g": "glued"}),
    "spaces before glue": ("", {"s": "spaces before glue", "g": "glued"}),
    "glued": ("before word", {"g": "glued", "s": "before word"}),
    "spaces": ("marks", {"s": "spaces"}),
    "marks": ("marks again", {"e": "marks", "(": "opened"}),
    "opened": ("", {")": "closed"}),
    "closed": ("marks again", {"w": "closed"}),
    "marks again": ("returned", {"e": "marks again", "r": "returned"}),
    "returned": ("", {"b": "broken"}),
    "broken": ("", {}),
}
# The accepting states.
_ACCEPTING = frozenset(("marks again", "returned", "broken"))


def line_breaks(text: str) -> list[int]:
    """The positions in `text` after which a line may be broken, ascending; the last is its length."""
    breaks = []
    position = 0
    while position < len(text):
        position = _match(text, position)
        breaks.append(position)
    return breaks


def pieces(text: str) -> list[str]:
    """The text cut at each position where a line may be broken."""
    parts = []
    start = 0
    for end in line_breaks(text):
        parts.append(text[start:end])
        start = end
    return parts


def _match(text: str, start: int) -> int:
    states = _close_over(frozenset(("before word",)))
    end = start + 1
    for position in range(start, len(text)):
        classes = _classes(text[position])
        if classes != "i":
            states = _step(states, classes)
        if not states:
            break
        if not states.isdisjoint(_ACCEPTING):
            end = position + 1
    return end


@cache
def _step(states: frozenset[str], classes: str) -> frozenset[str]:
    return _close_over(
        frozenset(_STATES[state][1][one] for state in states for one in classes if one in _STATES[state][1])
    )


def _close_over(states: frozenset[str]) -> frozenset[str]:
    """The states, and those that they reach without reading a character."""
    reached = set(states)
    waiting = list(states)
    while waiting:
        for state in _STATES[waiting.pop()][0].split(", "):
            if state and state not in reached:
                reached.add(state)
                waiting.append(state)
    return frozenset(reached)


@cache
def _classes(character: str) -> str:
    if character < "\x80":
        return _ASCII.get(character, "c")
    from unicodedata import category

    if character == "\u00ad":  # the discretionary hyphen, a format character otherwise
        return "h"
    if character in _GLUE:
        return "g"
    if character in _POST_WORD:
        return "w"
    if any(first <= character <= last for first, last in _KANJI):
        return "k"
    return _BY_CATEGORY.get(category(character), "c")
