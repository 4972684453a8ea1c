"""`python -m records`: decode and encode messages line by line, or print the protocol guide.

A line holds a message's name, its kind, its version, and its hex or its JSON, separated by tabs.
"""

from __future__ import annotations

import os
import sys

from records.wire import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import BinaryIO

COLUMNS = {"decode": "message, kind, version and hex", "encode": "message, kind, version and JSON"}
VERSION_MAX = 32767


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns the exit code. Wrong usage ends in argparse's own message and exit code 2."""
    given = sys.argv[1:] if arguments is None else arguments
    if given in (["decode"], ["encode"]):  # without argparse: this is for pipes, which start it often
        return _lines(decode_line if given[0] == "decode" else encode_line, sys.stdin.buffer, sys.stdout.buffer)
    import argparse

    parser = argparse.ArgumentParser(prog=f"python -m {__package__}", description="Kafka's messages, by their bytes.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command, what in (("decode", "hex to JSON"), ("encode", "JSON to hex")):
        commands.add_parser(
            command,
            help=f"{what}, line by line from standard input",
            description=f"Each line of standard input holds {COLUMNS[command]}, separated by tabs; for each, one line "
            "is written: the other form, or `error: ...` for that line alone. kind is request, response, metadata, "
            "data, header or control.",
        )
    guide = commands.add_parser("guide", help="print the protocol guide, in Markdown")
    guide.add_argument("api", nargs="?", help="one API by name or key, or one message")
    guide.add_argument("version", nargs="?", type=int, help="one version of it")
    options = parser.parse_args(given)
    if options.command != "guide":
        return main([options.command])
    from records.printing.guide import guide_of, whole_guide

    try:
        pieces: Iterable[str] = [guide_of(options.api, options.version)] if options.api else whole_guide()
    except ValueError as error:
        guide.error(str(error))
    return _write((piece + "\n\n" for piece in pieces), sys.stdout.buffer)


def decode_line(line: str) -> str:
    """The JSON of a line with message, kind, version and hex; raises ValueError where it has none."""
    from records.codec import decode
    from records.printing.json_form import to_json
    from records.printing.json_text import json_text

    cls, version, data = _read(line, "decode")
    try:
        raw = bytes.fromhex(data)
    except ValueError:
        raise ValueError(f"the bytes are not hexadecimal: {_quote(data)}") from None
    return json_text(to_json(decode(cls, version, raw), version))


def encode_line(line: str) -> str:
    """The hex of a line with message, kind, version and JSON; raises ValueError where it has none."""
    from records.codec import encode
    from records.printing.json_form import from_json
    from records.printing.json_text import read_json

    cls, version, text = _read(line, "encode")
    return encode(from_json(cls, version, read_json(text)), version).hex()


def _read(line: str, command: str) -> tuple[type, int, str]:
    """The class, the version, and the last column."""
    from records.registry import find_class
    from records.schema import schema_of

    columns = line.split("\t")
    if len(columns) != 4:
        raise ValueError(f"a line has {COLUMNS[command]}, separated by tabs, not {len(columns)} columns")
    name, kind, number, rest = columns
    try:
        cls = find_class(name)
    except KeyError:
        raise ValueError(f"there is no message {_quote(name)}") from None
    known = schema_of(cls).kind
    accepted = {known}
    if known in ("data", "header"):
        accepted = {"data", "header", "control"}
    if kind not in accepted:
        raise ValueError(f"{name} is of kind {known}, not {_quote(kind)}")
    if not (number.isascii() and number.isdigit() and len(number) <= 5 and int(number) <= VERSION_MAX):
        raise ValueError(f"version {_quote(number)} is not a number from 0 to {VERSION_MAX}")
    return cls, int(number), rest


def _quote(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:40] + "…")


def _lines(convert: Callable[[str], str], source: BinaryIO, out: BinaryIO) -> int:
    """Convert line by line; each line is answered before the next is read. Returns the exit code."""

    def answers() -> Iterable[str]:
        for raw in source:
            try:
                answer = convert(raw.rstrip(b"\r\n").decode())
            except UnicodeDecodeError:
                answer = "error: the line is not UTF-8"
            except ValueError as error:
                answer = "error: " + " ".join(str(error).split())
            yield answer + "\n"

    return _write(answers(), out)


def _write(pieces: Iterable[str], out: BinaryIO) -> int:
    try:
        for piece in pieces:
            out.write(piece.encode())
            out.flush()
    except BrokenPipeError:  # the reader closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
