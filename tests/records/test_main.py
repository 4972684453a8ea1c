"""`python -m records`: lines in, lines out; a bad line does not end it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.records.golden import GOLDEN

ROOT = Path(__file__).parents[2]


def run(*arguments: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "records", *arguments], cwd=ROOT, input=given, capture_output=True, check=False
    )


def rows(table: str) -> list[list[str]]:
    return [line.split("\t") for line in (GOLDEN / table).read_text().splitlines()[1:]]


@pytest.mark.parametrize("table", ["wire.tsv", "wire-unknown-tags.tsv"])
def test_the_bytes_of_stock_are_decoded_to_its_json(table: str) -> None:
    given = "".join(f"{name}\t{kind}\t{version}\t{data}\n" for name, kind, version, _, data in rows(table))

    done = run("decode", given=given.encode())

    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode().splitlines() == [text for _, _, _, text, _ in rows(table)]


def test_the_json_of_stock_is_encoded_to_its_bytes() -> None:
    given = "".join(f"{name}\t{kind}\t{version}\t{text}\n" for name, kind, version, text, _ in rows("wire.tsv"))

    done = run("encode", given=given.encode())

    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode().splitlines() == [data for _, _, _, _, data in rows("wire.tsv")]


BAD_HEX = [
    (b"", "error: a line has message, kind, version and hex, separated by tabs, not 1 columns"),
    (b"a\tb\tc\td\te", "error: a line has message, kind, version and hex, separated by tabs, not 5 columns"),
    (b"Fetch\trequest\t4\t00", "error: there is no message 'Fetch'"),
    (b"FetchRequest\tresponse\t4\t00", "error: FetchRequest is of kind request, not 'response'"),
    (b"FetchRequest\trequest\t-1\t00", "error: version '-1' is not a number from 0 to 32767"),
    (b"FetchRequest\trequest\t\t00", "error: version '' is not a number from 0 to 32767"),
    (b"FetchRequest\trequest\t99999\t00", "error: version '99999' is not a number from 0 to 32767"),
    (b"FetchRequest\trequest\t99\t00", "error: FetchRequest v99: there are versions 0 to 18"),
    (b"FetchRequest\trequest\t4\t0", "error: the bytes are not hexadecimal: '0'"),
    (b"FetchRequest\trequest\t4\tzz", "error: the bytes are not hexadecimal: 'zz'"),
    (b"FetchRequest\trequest\t4\t0000", "error: FetchRequest v4 replicaId at byte 0: the data end at byte 2"),
    (b"\xff\xfe", "error: the line is not UTF-8"),
    (b"ResponseHeader\theader\t0\t00000007", '{"correlationId":7}'),
    (b"ResponseHeader\tdata\t0\t00000007", '{"correlationId":7}'),
    (b"KRaftVersionRecord\tcontrol\t0\t0000000100", '{"version":0,"kRaftVersion":1}'),
]


def test_a_bad_line_is_reported_and_the_others_are_converted() -> None:
    done = run("decode", given=b"".join(line + b"\n" for line, _ in BAD_HEX))

    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode().splitlines() == [message for _, message in BAD_HEX]


BAD_JSON = [
    (b"", "error: Expecting value: line 1 column 1 (char 0)"),
    (b"{", "error: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
    (b"NaN", "error: NaN is no JSON"),
    (b"[" * 100_000, "error: JSON is nested too deep"),
    (b"[]", "error: FenceBrokerRecord v0: an object is wanted, not an array"),
    (b'{"id":1}', "error: FenceBrokerRecord v0 epoch: is missing"),
    (b'{"id":1,"epoch":2}', "00000001000000000000000200"),
]


def test_bad_json_is_reported_and_the_others_are_converted() -> None:
    done = run("encode", given=b"".join(b"FenceBrokerRecord\tmetadata\t0\t" + text + b"\n" for text, _ in BAD_JSON))

    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode().splitlines() == [message for _, message in BAD_JSON]


def test_a_lone_surrogate_is_an_error_of_its_line() -> None:
    line = b'TopicRecord\tmetadata\t0\t{"name":"\\ud800","topicId":"AAAAAAAAAAAAAAAAAAAAAQ"}\n'

    assert run("encode", given=line).stdout.startswith(b"error: TopicRecord v0 name: ")


def test_the_last_line_needs_no_end_and_may_have_that_of_windows() -> None:
    assert run("decode", given=b"ResponseHeader\tdata\t0\t00000007\r\n").stdout == b'{"correlationId":7}\n'
    assert run("decode", given=b"ResponseHeader\tdata\t0\t00000007").stdout == b'{"correlationId":7}\n'
    assert run("decode").stdout == b""


def test_each_line_is_answered_before_the_next_is_given() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "records", "decode"], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin
        assert process.stdout
        for number in (1, 2):
            process.stdin.write(b"ResponseHeader\tdata\t0\t%08x\n" % number)
            process.stdin.flush()
            assert process.stdout.readline() == b'{"correlationId":%d}\n' % number
        process.stdin.close()
        assert process.wait() == 0


def test_a_closed_pipe_is_no_error() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "records", "guide"], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout
        assert process.stderr
        assert process.stdout.readline() == b"# Kafka protocol guide\n"
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0


def test_the_guide_of_one_api_is_printed() -> None:
    done = run("guide", "Vote", "2")

    assert done.returncode == 0
    assert done.stdout.decode().startswith("### Vote API (Key: 52)\n")
    assert b"Vote Request (Version: 2) => {" in done.stdout
    assert b"Version: 1)" not in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "the following arguments are required: COMMAND"),
        (["nonsense"], "invalid choice: 'nonsense'"),
        (["decode", "file"], "unrecognized arguments: file"),
        (["guide", "Fetc"], "there is no API or message 'Fetc'"),
        (["guide", "Fetch", "x"], "invalid int value: 'x'"),
    ],
)
def test_wrong_usage_is_reported_and_exits_with_2(arguments: list[str], message: str) -> None:
    done = run(*arguments)

    assert (done.returncode, done.stdout) == (2, b"")
    assert message in done.stderr.decode()
    assert done.stderr.decode().startswith("usage: python -m records")


def test_decoding_imports_only_the_modules_that_it_needs() -> None:
    code = "import sys; sys.argv = ['records', 'decode']; import records.__main__ as m; m.main(); print(*sys.modules)"

    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r}); {code}"],
        input=b"ResponseHeader\tdata\t0\t00000007\n",
        capture_output=True,
        check=True,
    )

    loaded = set(done.stdout.decode().splitlines()[-1].split())
    assert loaded.isdisjoint({"argparse", "re", "json", "typing", "enum", "numpy"})
