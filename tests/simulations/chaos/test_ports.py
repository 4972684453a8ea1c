"""Free ports: no two calls get one port, in this process and in another, though nothing listens yet."""

from __future__ import annotations

import socket
import subprocess
import sys

import pytest

from simulations.chaos import ports as module
from simulations.chaos.ports import HOST, OFFSETS_OF_A_ROW, RESERVED_MAX, free_ports, free_ports_in_a_row


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> range:
    """A range of so few ports that two calls would often get the same."""
    first = free_ports_in_a_row(8)
    for reservation in list(module._reserved)[-24:]:
        reservation.close()
        module._reserved.remove(reservation)
    found = range(first, first + 8)
    monkeypatch.setattr(module, "PORTS", found)
    monkeypatch.setattr("random.sample", lambda values, _: list(values))
    return found


def test_no_port_is_returned_twice(few: range) -> None:
    assert [*free_ports(3), *free_ports(5)] == list(few)
    with pytest.raises(AssertionError, match="no 1 free ports"):
        free_ports(1)


def test_a_port_that_is_in_use_is_left_out(few: range) -> None:
    with socket.socket() as taken:
        taken.bind((HOST, few[0]))
        assert free_ports(1) == [few[1]]


def test_another_process_does_not_get_a_reserved_port(few: range) -> None:
    free_ports(7)
    program = (
        "from simulations.chaos import ports\n"
        f"ports.PORTS = {few!r}\n"
        "ports.random.sample = lambda values, _: list(values)\n"
        "print(ports.free_ports(1))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == f"[{few[7]}]\n"


@pytest.mark.parametrize("offset", OFFSETS_OF_A_ROW)
def test_a_row_has_free_ports_beside_it(few: range, offset: int) -> None:
    with socket.socket() as taken:
        taken.bind((HOST, few[0] + offset))
        assert free_ports_in_a_row(2) == few[3]


def test_a_process_keeps_a_bounded_number_of_reservations() -> None:
    for _ in range(RESERVED_MAX // 9 + 1):
        free_ports_in_a_row(3)
    assert len(module._reserved) == RESERVED_MAX


def test_a_server_can_listen_on_a_reserved_port() -> None:
    with socket.create_server((HOST, free_ports(1)[0])) as server:
        assert server.getsockname()[0] == HOST
