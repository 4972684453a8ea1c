"""Names similar to an unknown name, as argparse4j suggests them (with the costs of git's help)."""

from __future__ import annotations

_TOO_FAR = 7


def suggestions(given: str, names: dict[str, str]) -> str:
    """The lines that suggest the nearest of `names` (as shown -> as compared); empty if none is near."""
    distances = sorted((0 if name.startswith(given) else distance(given, name), shown) for shown, name in names.items())
    if not distances or distances[0][0] >= _TOO_FAR:
        return ""
    nearest = [shown for cost, shown in distances if cost == distances[0][0]]
    return "\nDid you mean:\n" + "".join(f"\t{shown}\n" for shown in nearest)


def distance(given: str, name: str, *, substitute: int = 2, insert: int = 1, delete: int = 4) -> int:
    """The Damerau-Levenshtein distance from `given` to `name`; swapping adjacent characters costs nothing."""
    before_last: list[int] = []
    last = list(range(len(name) + 1))
    for i, letter in enumerate(given, 1):
        row = [i]
        for j, other in enumerate(name, 1):
            cost = last[j - 1] + (0 if letter == other else substitute)
            if i >= 2 and j >= 2 and letter != other and given[i - 2] == other and letter == name[j - 2]:
                cost = min(cost, before_last[j - 2])
            row.append(min(cost, last[j] + delete, row[j - 1] + insert))
        before_last, last = last, row
    return last[-1]
