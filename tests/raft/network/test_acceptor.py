"""Accepting on uvloop: many connections at a time, and what happens without files."""

from __future__ import annotations

import asyncio
import errno
import socket
from typing import TYPE_CHECKING, Any

import uvloop

from raft.network.acceptor import ACCEPTED_PER_ITERATION, PAUSE_S, Acceptor
from tests.raft.network.peers import Serving, run_on

if TYPE_CHECKING:
    from collections.abc import Callable


def test_connections_that_wait_are_accepted_in_few_iterations_of_the_loop() -> None:
    async def test() -> None:
        async with Serving() as serving:
            clients = [socket.create_connection(("127.0.0.1", serving.port)) for _ in range(3 * ACCEPTED_PER_ITERATION)]

            iterations = 0
            while len(serving.server.connections) < len(clients):
                await asyncio.sleep(0)
                iterations += 1

            assert iterations < ACCEPTED_PER_ITERATION
            for client in clients:
                client.close()

    run_on(uvloop.new_event_loop, test())


class WithoutFiles:
    """A listening socket of a process that may open no more files; and the loop that watches it."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []

    def accept(self) -> Any:
        raise OSError(errno.EMFILE, "Too many open files")

    def add_reader(self, *_arguments: Any) -> None:
        self.calls.append(("add_reader",))

    def remove_reader(self, _listening: Any) -> None:
        self.calls.append(("remove_reader",))

    def call_later(self, seconds: float, call: Callable[..., None], *arguments: Any) -> None:
        self.calls.append(("call_later", seconds))
        call(*arguments)


def test_without_files_the_listener_is_not_watched_for_a_while() -> None:
    listening: Any = WithoutFiles()
    acceptor = Acceptor.__new__(Acceptor)
    acceptor._loop, acceptor._listening = listening, [listening]

    acceptor._accept(listening)

    assert listening.calls == [("remove_reader",), ("call_later", PAUSE_S), ("add_reader",)]


def test_a_closed_listener_is_not_watched_again() -> None:
    listening: Any = WithoutFiles()
    acceptor = Acceptor.__new__(Acceptor)
    acceptor._loop, acceptor._listening = listening, []

    acceptor._watch(listening)

    assert listening.calls == []
