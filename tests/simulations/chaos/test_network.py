"""The proxy between real nodes: cuts, delays and resets."""

from __future__ import annotations

import contextlib
import gc
import socket
import threading
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from simulations.chaos.network import OUTSIDE, Network, peer_of

if TYPE_CHECKING:
    from collections.abc import Iterator

SILENCE_S = 0.2


def head(client_id: str) -> bytes:
    """The beginning of a request, with the client id."""
    return bytes(12) + len(client_id).to_bytes(2, "big") + client_id.encode()


@pytest.fixture
def network() -> Iterator[Network]:
    """Node 1 is an echo."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:

        def echo(connection: socket.socket) -> None:
            with connection:
                while data := connection.recv(1 << 16):
                    connection.sendall(data)

        def accept() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                threading.Thread(target=echo, args=(connection,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        made = Network({1: listener.getsockname()[1]})
        yield made
        made.close()


def connect(network: Network, client_id: str) -> socket.socket:
    """A connection to node 1 that has sent its first request, and got it back."""
    connection = socket.create_connection(("127.0.0.1", network.ports[1]), timeout=5)
    connection.sendall(head(client_id))
    read(connection, len(head(client_id)))
    return connection


def read(connection: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count and (more := connection.recv(count - len(data))):
        data += more
    return data


def is_silent(connection: socket.socket) -> bool:
    connection.settimeout(SILENCE_S)
    try:
        return connection.recv(1) == b"nothing"
    except TimeoutError:
        return True
    finally:
        connection.settimeout(5)


def is_ended(connection: socket.socket) -> bool:
    try:
        return connection.recv(1) == b""
    except ConnectionError:
        return True


def test_the_client_id_identifies_the_node_that_opened_a_connection() -> None:
    found = [peer_of(head(client_id)) for client_id in ("raft-client-3", "raft-client-101", "admin", "")]

    assert found == [3, 101, OUTSIDE, OUTSIDE]


def test_held_bytes_arrive_when_the_cut_ends(network: Network) -> None:
    with connect(network, "raft-client-2") as connection:
        network.cut(2, 1)

        connection.sendall(b"late")

        assert is_silent(connection)
        network.heal()
        assert read(connection, 4) == b"late"


def test_a_cut_of_the_answers_holds_them_back_as_well(network: Network) -> None:
    with connect(network, "raft-client-2") as connection:
        network.cut(1, 2)

        connection.sendall(b"asked")

        assert is_silent(connection)
        network.heal()
        assert read(connection, 5) == b"asked"


def test_a_cut_affects_only_the_two_nodes_that_it_names(network: Network) -> None:
    with connect(network, "raft-client-2") as cut_off, connect(network, "raft-client-3") as connection:
        network.cut(2, 1)

        connection.sendall(b"through")

        assert read(connection, 7) == b"through"
        assert is_silent(cut_off)


def test_connections_that_are_reset_end_and_new_ones_can_be_made(network: Network) -> None:
    with connect(network, "raft-client-2") as connection:
        network.reset(2, 1)

        assert is_ended(connection)

    with connect(network, "raft-client-2") as connection:
        connection.sendall(b"again")
        assert read(connection, 5) == b"again"


def test_a_connection_to_a_node_that_is_down_ends() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        port = listener.getsockname()[1]
    network = Network({1: port})
    try:
        with socket.create_connection(("127.0.0.1", network.ports[1]), timeout=5) as connection:
            assert is_ended(connection)
    finally:
        network.close()


def test_a_network_that_is_closed_while_it_accepts_leaves_no_connection(recwarn: pytest.WarningsRecorder) -> None:
    """Other threads take the interpreter, as in a busy run of all tests."""
    ended = threading.Event()

    def work() -> None:
        while not ended.is_set():
            sum(range(1000))

    workers = [threading.Thread(target=work) for _ in range(3)]
    for worker in workers:
        worker.start()
    try:
        with closing(socket.create_server(("127.0.0.1", 0))) as listener, contextlib.ExitStack() as clients:
            for _ in range(5):
                network = Network({1: listener.getsockname()[1]})
                for _ in range(3):
                    clients.enter_context(socket.create_connection(("127.0.0.1", network.ports[1]), timeout=5))
                network.close()
                del network
        left = gc.collect()
    finally:
        ended.set()
        for worker in workers:
            worker.join()

    assert left
    assert [str(warning.message) for warning in recwarn] == []
