"""Files that are read anew when they change."""

from __future__ import annotations

from raft.security.watched_file import WatchedFile


class Watching:
    def __init__(self, path) -> None:
        self.clock = 0.0
        self.notes = []
        self.refusal = ""
        self.file = WatchedFile(
            str(path),
            self.parse,
            lambda: self.clock,
            lambda name, fields: self.notes.append((name, fields)),
        )

    def parse(self, data: bytes) -> int:
        if self.refusal:
            raise ValueError(self.refusal)
        try:
            return int(data)
        except ValueError:
            raise ValueError("no number") from None

    def after(self, seconds: float) -> int:
        self.clock += seconds
        return self.file.value()


def test_a_change_is_seen_after_a_second_and_a_bad_one_is_logged_once(tmp_path):
    path = tmp_path / "n"
    path.write_text("1")
    found = Watching(path)

    path.write_text("22")
    assert (found.after(0.5), found.after(1), found.notes[-1][0]) == (1, 22, "security_file_renewed")
    path.write_text("bad")
    assert [found.after(1) for _ in range(3)] == [22, 22, 22]
    assert found.notes[1:] == [("security_file_refused", {"file": str(path), "reason": f"{path}: no number"})]
    path.unlink()
    assert found.after(1) == 22
    assert "No such file" in found.notes[-1][1]["reason"]
    path.write_text("333")
    assert found.after(1) == 333


def test_content_that_becomes_valid_with_time_is_used_without_a_change_of_the_file(tmp_path):
    path = tmp_path / "n"
    path.write_text("1")
    found = Watching(path)
    path.write_text("22")
    found.refusal = "not valid yet"

    assert (found.after(1), found.notes[-1][0]) == (1, "security_file_refused")
    found.refusal = ""
    assert (found.after(1), found.notes[-1][0]) == (22, "security_file_renewed")


def test_a_file_of_the_same_size_that_replaces_another_is_seen(tmp_path):
    path = tmp_path / "n"
    path.write_text("1")
    found = Watching(path)
    (tmp_path / "new").write_text("2")
    (tmp_path / "new").replace(path)

    assert found.after(1) == 2
