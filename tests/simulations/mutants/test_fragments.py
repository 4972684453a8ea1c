"""Fragments of code: where they stand in a function, and what they are replaced by."""

from __future__ import annotations

import ast

import pytest

from simulations.mutants.patching import apply_edits
from simulations.mutants.row import Edit

SOURCE = '''
from math import inf

LIMITS = (1, 2, 3)

class Log:
    def cut(self, end, start=0):
        """Cuts the log."""
        for each in self.entries:
            if each.offset >= end and not each.is_kept and each.offset > start:  # those above
                self.drop(each)
            else:
                self.keep(each)
        self.end = end
        return Cut(self, end=end, start=start, at=inf)

def first(entries):
    low = entries[0]
    high = entries[1]
    return low.offset
'''
CUT, FIRST = "Log.cut", "first"


def _applied(function: str, old: str, new: str, names: str = "", source: str = SOURCE) -> str:
    return ast.unparse(apply_edits(source, [Edit("m", function, old, new, names)]))


def _replaced(before: str, after: str) -> str:
    assert SOURCE.count(before) == 1
    return ast.unparse(ast.parse(SOURCE.replace(before, after)))


@pytest.mark.parametrize(
    ("function", "old", "new", "before", "after"),
    [
        (CUT, "each.offset >= end", "True", "each.offset >= end", "True"),
        (CUT, "self.end  =  end", "", "        self.end = end\n", ""),
        (CUT, "self.keep(each)", "", "self.keep(each)", "pass"),
        (CUT, "self.keep(each)", "raise KeyError", "self.keep(each)", "raise KeyError"),
        (CUT, "for each in self.entries: ...", "for each in (): ...", "self.entries", "()"),
        (CUT, "if ...: self.drop(each)\nelse: ...", "if ...: pass\nelse: ...", "self.drop(each)", "pass"),
        (CUT, "... and not each.is_kept and ...", "... and ...", " and not each.is_kept", ""),
        (CUT, "Cut(..., **..., start=start, **...)", "Cut(..., **..., **...)", " start=start,", ""),
        (CUT, "Cut(..., end=end, **...)", "Cut(..., 1, **...)", "self, end=end", "self, 1"),
        (FIRST, "low = ...\n...\nreturn low.offset", "low = ...\n...\nreturn 0", "low.offset", "0"),
        ("LIMITS", "(..., 3)", "(..., 4)", "3)", "4)"),
        ("", "from math import inf", "from math import nan as inf", "import inf", "import nan as inf"),
    ],
)
def test_a_fragment_is_replaced(function: str, old: str, new: str, before: str, after: str) -> None:
    assert _applied(function, old, new) == _replaced(before, after)


def test_a_local_name_that_the_function_lacks_stands_for_the_one_that_fits() -> None:
    renamed = SOURCE.replace("each", "entry").replace("low", "lowest")

    cut = _applied(CUT, "each.offset >= end", "each.offset > end", source=renamed)
    first = _applied(FIRST, "return low.offset", "return low.end", source=renamed)

    assert cut == ast.unparse(ast.parse(renamed.replace("entry.offset >= end", "entry.offset > end")))
    assert first == ast.unparse(ast.parse(renamed.replace("lowest.offset", "lowest.end")))


def test_two_names_of_a_fragment_never_stand_for_one_variable() -> None:
    with pytest.raises(ValueError, match=r"has 0 places, not one, with\na.offset >= b"):
        _applied(CUT, "a.offset >= b", "a", source=SOURCE.replace(">= end", ">= each"))


def test_a_name_that_the_function_has_stands_for_itself() -> None:
    with pytest.raises(ValueError, match="has 0 places, not one"):
        _applied(FIRST, "low = entries[1]", "low = None")


def test_a_name_that_only_the_new_code_has_is_found_by_another_fragment() -> None:
    renamed = SOURCE.replace("high", "highest")

    with pytest.raises(ValueError, match="m, first: has no high; write the new code with names that are there"):
        _applied(FIRST, "low.offset", "high.offset", source=renamed)

    found = _applied(FIRST, "low.offset", "high.offset", names="high = entries[1]", source=renamed)
    assert found == ast.unparse(ast.parse(renamed.replace("low.offset", "highest.offset")))


@pytest.mark.parametrize(
    ("function", "old", "new", "names", "error"),
    [
        (CUT, "self.ends = end", "", "", "m, Log.cut: has 0 places.*\n.*\nWrite it as the code is now"),
        (FIRST, "entries[...]", "None", "", "m, first: has 2 places.*\n.*\nAdd code that stands beside the right one"),
        ("Log.cuts", "end", "", "", "m, Log.cuts: is not there; name the function"),
        (FIRST, "low.offset", "high", "high.offset", "m, first: has 0 places, not one, with\nhigh"),
        (FIRST, "low.offset", "x if ... else y", "", "the new code has more `...` than the old"),
        (CUT, "... and each.offset > start", "...", "", "a `...` of the new code stands where one node can, and for 2"),
    ],
)  # fmt: skip
def test_a_fragment_that_does_not_fit_is_an_error_which_says_what_to_do(
    function: str, old: str, new: str, names: str, error: str
) -> None:
    with pytest.raises(ValueError, match=error):
        _applied(function, old, new, names)
