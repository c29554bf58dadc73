"""Agents that keep a log of their questions: one loopback HTTP server in a process of its own.

    POST /NAME      answers after the delay of the agent NAME: the prompt in capitals, or as it is

An agent goes on with a question when whoever asked has gone, as a model behind an endpoint does:
the log says how many questions were open at once, whoever died meanwhile. The line of a question is
written when it ends; the clock is one for all.
"""

import asyncio
import contextlib
import ctypes
import json
import os
import random
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

CLONE_NEWNET = 0x40000000
HEADERS = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: "


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question that an agent got."""

    agent: str
    worker: str
    run: str
    test: str
    trial: int
    begin: float
    end: float
    gone: float | None
    """When whoever asked had gone; None if it waited for the answer."""

    @property
    def item(self) -> tuple[str, str, int]:
        """The same for every time that it was asked."""
        return self.run, self.test, self.trial


class Questions:
    """The agents, and what they were asked."""

    def __init__(self, folder: Path, delays: Mapping[str, float], networks: Sequence[str] = ()):
        """`delays` are the seconds that each agent takes; `networks` are namespaces with it too."""
        self._file = folder / "asked.log"
        config = {"delays": delays, "file": str(self._file), "networks": networks}
        self._process = subprocess.Popen(
            [sys.executable, __file__, json.dumps(config)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        self.port = int(self._process.stdout.readline())
        self.pid = self._process.pid

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._process:  # closes its stdin, which makes it exit
            pass

    def url(self, agent: str) -> str:
        """The address of an agent."""
        return f"http://127.0.0.1:{self.port}/{agent}"

    def log(self) -> list[Asked]:
        """The questions that have ended, in this order."""
        return list(_read(self._file)) if self._file.exists() else []


def _read(file: Path) -> Iterator[Asked]:
    for line in file.read_text().splitlines():
        agent, worker, item, begin, end, gone = line.split(" ")
        run, test, trial = item.split(":")
        yield Asked(
            agent=agent,
            worker=worker,
            run=run,
            test=test,
            trial=int(trial),
            begin=float(begin),
            end=float(end),
            gone=None if gone == "-" else float(gone),
        )


def most_at_once(asked: Sequence[Asked]) -> int:
    """How many of these questions were open at the same time, at most."""
    # An end goes before a begin of the same moment.
    moments = sorted([(one.begin, 1) for one in asked] + [(one.end, -1) for one in asked])
    most = now = 0
    for _, change in moments:
        now += change
        most = max(most, now)
    return most


def most_within(asked: Sequence[Asked], seconds: float) -> int:
    """How many of these questions began within any time of so many seconds, at most."""
    begins = sorted(one.begin for one in asked)
    most = first = 0
    for place, begin in enumerate(begins):
        while begins[first] <= begin - seconds:
            first += 1
        most = max(most, place - first + 1)
    return most


def asked_again(asked: Sequence[Asked]) -> int:
    """How many of these questions had been asked before."""
    counts = Counter(one.item for one in asked)
    return sum(count - 1 for count in counts.values())


class _Connection(asyncio.Protocol):
    """One connection of a client."""

    def __init__(self, delays: Mapping[str, float], log: int) -> None:
        self._delays = delays
        self._log = log
        self._buffer = b""
        self._transport: Any = None
        self._gone: float | None = None

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        self._gone = time.monotonic()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while True:
            head, found, rest = self._buffer.partition(b"\r\n\r\n")
            if not found:
                return
            lines = head.decode("latin-1").split("\r\n")
            headers = {
                name.lower(): value.strip()
                for name, _, value in (line.partition(":") for line in lines[1:])
            }
            length = int(headers.get("content-length", 0))
            if len(rest) < length:
                return
            self._buffer = rest[length:]
            agent = lines[0].split(" ")[1].strip("/")
            self._ask(agent, headers.get("x-worker", "-"), json.loads(rest[:length]))

    def _ask(self, agent: str, worker: str, body: Mapping[str, str]) -> None:
        begin = time.monotonic()
        delay = self._delays[agent] * random.uniform(0.9, 1.1)
        line = f"{agent} {worker} {body['id']} {begin:.6f}"
        if delay:
            loop = asyncio.get_running_loop()
            loop.call_later(delay, self._answer, line, body["prompt"])
        else:
            self._answer(line, body["prompt"])

    def _answer(self, line: str, prompt: str) -> None:
        # Before the answer leaves: its slot may be used again as soon as it arrives.
        gone = "-" if self._gone is None else f"{self._gone:.6f}"
        os.write(self._log, f"{line} {time.monotonic():.6f} {gone}\n".encode())
        # A program is the answer as it is.
        answer = (prompt if prompt.startswith("def ") else prompt.upper()).encode()
        if not self._transport.is_closing():
            self._transport.write(HEADERS + str(len(answer)).encode() + b"\r\n\r\n" + answer)


def _listeners(networks: Sequence[str]) -> Iterator[socket.socket]:
    """Sockets on one port of loopback: here, and in each of these network namespaces."""
    here = socket.create_server(("127.0.0.1", 0), backlog=500)
    yield here
    libc = ctypes.CDLL(None, use_errno=True)
    own = os.open("/proc/self/ns/net", os.O_RDONLY)
    for network in networks:
        other = os.open(f"/run/netns/{network}", os.O_RDONLY)
        assert libc.setns(other, CLONE_NEWNET) == 0, os.strerror(ctypes.get_errno())
        yield socket.create_server(("127.0.0.1", here.getsockname()[1]), backlog=500)
        assert libc.setns(own, CLONE_NEWNET) == 0
        os.close(other)
    os.close(own)


async def _serve(config: Mapping[str, Any]) -> None:
    loop = asyncio.get_running_loop()
    log = os.open(config["file"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    listeners = list(_listeners(config["networks"]))
    for listener in listeners:
        await loop.create_server(lambda: _Connection(config["delays"], log), sock=listener)
    print(listeners[0].getsockname()[1], flush=True)
    ended = asyncio.Event()
    loop.add_reader(sys.stdin, ended.set)
    await ended.wait()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(json.loads(sys.argv[1])))
