"""The rules of each request, stated once more: what an active controller must write, and answer, by what it has."""
