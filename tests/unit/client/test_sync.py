"""The client without asyncio: it waits, and whoever interrupts it is not left with a mess."""

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
    """A server that begins to answer, lets Ctrl-C be pressed, and waits to be hung up on."""
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


def test_ctrl_c_in_a_stream_is_ctrl_c_and_hangs_up(interrupting: tuple[str, threading.Event]):
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


def test_ctrl_c_before_anything_has_begun_waits_for_nothing(monkeypatch: pytest.MonkeyPatch):
    """At the worst moments: just before the loop is told of the work, and just after."""
    with SyncClient("http://127.0.0.1:9") as client:
        tell = client._loop.call_soon_threadsafe
        for is_told in (False, True):
            told = iter([True])

            def interrupted(call, *given, is_told=is_told, told=told):
                if not next(told, False):
                    return tell(call, *given)
                if is_told:
                    tell(call, *given)
                raise KeyboardInterrupt

            monkeypatch.setattr(client._loop, "call_soon_threadsafe", interrupted)
            with pytest.raises(KeyboardInterrupt):
                client.wait_for(asyncio.Event().wait())
            monkeypatch.undo()
