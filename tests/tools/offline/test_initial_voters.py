from __future__ import annotations

import pytest

from records.control import VotersRecord
from records.uuids import parse_uuid
from tools.offline.initial_voters import VoterError, java_host, parse_voters, voters_record

ID = "72jNQffvShyiD5_x5d9riA"


def test_voters_are_sorted_by_id() -> None:
    found = parse_voters(f" 2@b:9093:{ID}, 1@[::1]:9092:{ID}, ")

    assert [(voter.node_id, voter.host, voter.port, voter.directory_id) for voter in found] == [
        (1, "0:0:0:0:0:0:0:1", 9092, parse_uuid(ID)),
        (2, "b", 9093, parse_uuid(ID)),
    ]


@pytest.mark.parametrize(
    ("host", "written"),
    [("", "localhost"), ("example.com", "example.com"), ("10.0.0.1", "10.0.0.1"), ("fe80::a:0", "fe80:0:0:0:0:0:a:0")],
)
def test_a_host_is_written_as_java_writes_it(host: str, written: str) -> None:
    assert java_host(host) == written


@pytest.mark.parametrize(
    ("text", "message", "cause"),
    [
        (",", "No voters given.", None),
        (f"1@h:1:{ID},1@h:2:{ID}", "Node id 1 was specified more than once.", None),
        (
            "x@h:1:y",
            "Failed to parse node id in dynamic voter string.",
            'java.lang.NumberFormatException: For input string: "x"',
        ),
    ],
)
def test_refusals_have_the_texts_of_stock(text: str, message: str, cause: str | None) -> None:
    with pytest.raises(VoterError) as error:
        parse_voters(text)

    assert (str(error.value), error.value.cause) == (message, cause)


def test_the_record_names_the_listener_in_capitals() -> None:
    record = voters_record(parse_voters(f"1@h:9093:{ID}"), "controller")

    voter = VotersRecord.Voter
    assert record == VotersRecord(
        version=0,
        voters=(
            voter(
                voter_id=1,
                voter_directory_id=parse_uuid(ID),
                endpoints=(voter.Endpoint(name="CONTROLLER", host="h", port=9093),),
                kraft_version_feature=voter.KRaftVersionFeature(min_supported_version=0, max_supported_version=1),
            ),
        ),
    )
