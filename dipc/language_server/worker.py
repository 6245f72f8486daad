"""A process that answers one question at a time, and is ended where nobody waits for its answer any more."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import TypeVar

_R = TypeVar("_R")


class Stopped(Exception):
    """The question was given up, or the process that worked on it is gone."""


def serve(connection: Connection) -> None:
    """Answer until nobody asks any more."""
    while True:
        try:
            function, text = connection.recv()
        except (EOFError, OSError):
            os._exit(0)
        connection.send(function(text))


class Worker:
    """Answers questions about texts, each a function of a module and its one argument."""

    def __init__(self) -> None:
        self._context = get_context("spawn")
        self._process: SpawnProcess | None = None
        self._connection: Connection | None = None
        self._turn = threading.Lock()
        self._ending = threading.Lock()

    def ask(self, function: Callable[[str], _R], text: str) -> _R:
        """The answer; raises Stopped where `stop` came first."""
        with self._turn:
            with self._ending:
                connection = self._started()
            try:
                connection.send((function, text))
                answer: _R = connection.recv()
            except (EOFError, OSError) as gone:
                self.stop()
                raise Stopped from gone
            return answer

    def stop(self) -> None:
        """Give up what is being worked on; the next question has a new process."""
        with self._ending:
            if self._process is not None and self._connection is not None:
                self._process.kill()
                self._process.join()
                self._connection.close()
            self._process = self._connection = None

    @property
    def is_busy(self) -> bool:
        """Whether somebody waits for an answer."""
        return self._turn.locked()

    def _started(self) -> Connection:
        if self._connection is None:
            here, there = self._context.Pipe()
            self._process = self._context.Process(target=serve, args=(there,), daemon=True, name="dipc-lsp-worker")
            self._process.start()
            there.close()
            self._connection = here
        return self._connection
