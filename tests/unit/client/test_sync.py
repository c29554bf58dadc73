"""The blocking client: Ctrl-C ends a call and leaves nothing behind."""

import asyncio
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress

import pytest

from arena.client import SyncClient

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n: still here\n\n"


@pytest.fixture
def interrupting() -> Iterator[tuple[str, threading.Event]]:
    """A server that starts a response, sends SIGINT, and waits for the client to disconnect."""
    main = threading.main_thread().ident
    assert main is not None
    hung_up = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            with server.accept()[0] as line:
                line.recv(65536)
                line.sendall(HEAD)
                signal.pthread_kill(main, signal.SIGINT)
                with suppress(ConnectionResetError):
                    while line.recv(65536):
                        pass
                hung_up.set()

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}", hung_up
        thread.join(10)


def test_ctrl_c_in_a_stream_is_raised_and_disconnects(interrupting: tuple[str, threading.Event]):
    url, hung_up = interrupting
    with SyncClient(url) as client:
        with pytest.raises(KeyboardInterrupt):
            for _ in client.watch_market():
                pass
        assert hung_up.wait(10)


def test_ctrl_c_in_a_call_ends_the_call(interrupting: tuple[str, threading.Event]):
    url, hung_up = interrupting
    with SyncClient(url) as client:
        with pytest.raises(KeyboardInterrupt):
            client.market()
        assert hung_up.wait(10)


def test_ctrl_c_before_the_call_has_started_does_not_wait(monkeypatch: pytest.MonkeyPatch):
    """At the worst moments: just before the work is scheduled on the loop, and just after."""
    with SyncClient("http://127.0.0.1:9") as client:
        schedule = client._loop.call_soon_threadsafe
        for is_scheduled in (False, True):
            first = iter([True])

            def interrupted(call, *given, is_scheduled=is_scheduled, first=first):
                if not next(first, False):
                    return schedule(call, *given)
                if is_scheduled:
                    schedule(call, *given)
                raise KeyboardInterrupt

            monkeypatch.setattr(client._loop, "call_soon_threadsafe", interrupted)
            with pytest.raises(KeyboardInterrupt):
                client.wait_for(asyncio.Event().wait())
            monkeypatch.undo()
