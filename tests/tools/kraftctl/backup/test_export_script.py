"""An export is a script that a shell accepts, and has no secret in it."""

from __future__ import annotations

import shlex

from controller.state.tables.acl import Acl
from controller.state.tables.scram import ScramCredential
from tests.records.golden import GOLDEN
from tools.kraftctl.backup.export_script import PARTS, script
from tools.offline.image import Image
from tools.offline.live_directory import LiveDirectory

SECRET = "s3cr3t"


def test_topics_configs_acls_and_quotas_of_stock_are_commands_of_its_tools() -> None:
    lines = list(script(LiveDirectory(str(GOLDEN / "4.3-static/node-1")).update(), PARTS))

    assert [line.split()[0] for line in lines] == (
        ["kafka-topics.sh"] * 10 + ["kafka-configs.sh"] * 5 + ["kafka-acls.sh"] * 2 + ["kafka-configs.sh"] * 2 + ["#"]
    )
    assert lines[16] == (
        'kafka-acls.sh --bootstrap-server "$BOOTSTRAP" --add --deny-principal User:mallory --deny-host 10.0.0.7 '
        "--operation All --topic pay --resource-pattern-type prefixed"
    )


def test_secrets_are_named_and_left_out() -> None:
    image = Image()
    image.configs[4, "1"] = {"ssl.keystore.password": SECRET, "unknown.key": SECRET, "log.cleaner.threads": "2"}
    image.scram["bob", 1] = ScramCredential(SECRET.encode(), SECRET.encode(), SECRET.encode(), 4096)

    lines = list(script(image, PARTS))

    assert SECRET not in "\n".join(lines)
    assert [line for line in lines if line.startswith("#")] == [
        "# brokers 1: the value of ssl.keystore.password is secret, set it",
        "# brokers 1: the value of unknown.key is secret, set it",
        "# user bob has credentials of SCRAM-SHA-256: secret, set a new password",
    ]


def test_names_cannot_leave_their_argument_or_their_comment() -> None:
    image = Image()
    evil = "x'; rm -rf /\n$(reboot)"
    image.acls[b"1"] = Acl(2, evil, 3, f"User:{evil}", "*", 10, 3)
    image.scram[evil, 1] = ScramCredential(b"", b"", b"", 4096)

    acl, user = script(image, PARTS)

    assert shlex.split(acl)[4:] == [
        "--allow-principal", f"User:{evil}", "--allow-host", "*", "--operation", "DescribeConfigs", "--topic", evil,
        "--resource-pattern-type", "literal",
    ]  # fmt: skip
    assert "\n" not in user
