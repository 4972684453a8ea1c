"""A node at the most verbose log level gets secrets in every possible way and prints none of them."""

from __future__ import annotations

import json
import socket
import time
from typing import TYPE_CHECKING

from tests.controller.server.alterations import BROKER, BROKER_LOGGER, alteration
from tests.controller.server.processes import (
    format_directory,
    free_port,
    run_to_end,
    running,
    write_properties,
)
from tools.client.connection import Connection

if TYPE_CHECKING:
    from pathlib import Path

SECRET = "hunter2-of-the-operator"


def test_no_secret_is_ever_printed(tmp_path: Path) -> None:
    port = free_port()
    secrets: dict[str, str | None] = {
        "ssl_keystore_password": SECRET,
        "sasl_jaas_config": f"org.example.Login required password='{SECRET}';",
        "my_own_secret": SECRET,
        "kraft_log_level": "TRACE",
        "kraft_log_format": "json",
    }
    properties = write_properties(tmp_path, port, **secrets)
    scram = f"SCRAM-SHA-256=[name=alice,password={SECRET}]"
    formatted = format_directory(properties, "--add-scram", scram)

    with running(tmp_path, port, **secrets), Connection("127.0.0.1", port, SECRET[:3], 10) as connection:
        deadline = time.monotonic() + 10
        request = alteration(BROKER, "", "listener.name.external.ssl.key.password", SECRET)
        while (answer := connection.ask(request)).responses[0].error_code != 0:
            assert time.monotonic() < deadline, answer  # the node does not lead yet
        connection.ask(alteration(BROKER, "", "ssl.keystore.password", SECRET * 3))
        connection.ask(alteration(BROKER, "1", "no.such.key", SECRET))
        connection.ask(alteration(BROKER_LOGGER, "1", "raft", SECRET))
        with socket.create_connection(("127.0.0.1", port)) as garbage:
            garbage.sendall(b"\x00\x00\x00\x40" + SECRET.encode() * 10)
            garbage.recv(100)

    said = (tmp_path / "node.log").read_text()
    events = {json.loads(line)["event"] for line in said.splitlines()}
    assert {"request_received", "connection_refused", "controller_active"} <= events
    assert SECRET not in formatted.stdout + formatted.stderr + said


def test_a_refused_configuration_does_not_print_the_secrets_in_it(tmp_path: Path) -> None:
    properties = write_properties(
        tmp_path, free_port(), ssl_keystore_password=SECRET, ssl_keystore_type="PEM", sasl_jaas_config=SECRET,
        listener_security_protocol_map="CONTROLLER:SASL_SSL",
    )  # fmt: skip

    refused = run_to_end(properties)

    assert refused.returncode == 1
    assert SECRET not in refused.stdout + refused.stderr
