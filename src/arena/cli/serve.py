"""`arena serve`: the API on port 5109."""

import asyncio
import logging
import signal
import socket
from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from typing import Annotated, Any

import typer
import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from arena.api import create_app
from arena.api.access import check_address
from arena.api.connections import (
    BoundedConnection,
    Connections,
    Listener,
    allowed_connections,
    raise_descriptor_limit,
)
from arena.api.problems import problem
from arena.api.streams import Streams
from arena.cli.connection import settings_of, wait_for
from arena.cli.options import AgentsPath, TestsPath, commands
from arena.errors import InfrastructureError, InvalidInput
from arena.scoring.scorecard import Weights
from arena.settings import Settings

app = commands()

SHARDS = 4
"""Shards that a server of queued runs executes at once, unless another number is given."""
SHUTDOWN_SECONDS = 2
"""How long open requests may take to finish when the server stops."""

MAX_HEAD_BYTES = 128 * 1024
"""For a request's URL and headers; an archive of 1,000 CIDs needs half of it."""


@app.command()
def serve(
    context: typer.Context,
    host: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Where to listen (127.0.0.1).")
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, metavar="N", help="The port (5109; 0 takes a free one)."),
    ] = None,
    tests: TestsPath = None,
    agents: AgentsPath = None,
    workers: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=256,
            metavar="N",
            help=f"If runs are queued: shards to execute here ({SHARDS}; 0: only serve).",
        ),
    ] = None,
) -> None:
    """Serve the API until interrupted."""
    settings = settings_of(context, tests, agents)
    if workers is not None and not settings.is_queued:
        raise InvalidInput("--workers is for queued runs: set ARENA_DISPATCH=queued")
    if host is not None:
        settings = settings.model_copy(update={"host": host})
    if port is not None:
        settings = settings.model_copy(update={"port": port})
    check_address(settings)
    # Check the weights before the server starts.
    Weights.from_settings(settings.weights)
    level = settings.log_level.upper()
    logging.basicConfig(level=level, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    # It lists its own parts, seven lines that mean nothing to an operator.
    logging.getLogger("alembic.runtime.plugins").setLevel(logging.WARNING)
    # It logs every address, and that of a Kubo daemon may hold a key.
    logging.getLogger("httpx2").setLevel(logging.WARNING)
    # It logs every job; the worker logs its shards itself.
    logging.getLogger("procrastinate").setLevel(logging.CRITICAL)
    # It repeats every failed attempt while the database is away.
    logging.getLogger("psycopg.pool").setLevel(logging.ERROR)
    # Before the database is opened and migrated: a port in use must stop the start at once.
    with listen(settings.host, settings.port) as listener:
        wait_for(_serve(settings, listener, SHARDS if workers is None else workers))


def listen(host: str, port: int) -> socket.socket:
    """A listening socket, created before anything else is started."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family, backlog=2048)
    except OSError as error:
        message = f"cannot listen on {host}:{port}: {error.strerror or error}"
        raise InfrastructureError(f"{message}; choose another with --port") from error


async def _serve(settings: Settings, listener: socket.socket, workers: int) -> None:
    """Open Arena, serve until a signal arrives, and close it."""
    raise_descriptor_limit()
    app = create_app(settings, serves=True, workers=workers)
    server = _Server(
        uvicorn.Config(
            _without_tracebacks(app),
            lifespan="off",
            log_config=None,
            log_level=settings.log_level,
            timeout_graceful_shutdown=SHUTDOWN_SECONDS,
            h11_max_incomplete_event_size=MAX_HEAD_BYTES,
        )
    )
    # Here, not in uvicorn, so that an error while opening is one line without a traceback.
    async with app.router.lifespan_context(app):

        def stop(number: int) -> None:
            server.handle_exit(number, None)
            streams: Streams = app.state.streams
            streams.close()

        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, stop, number)
        host, port = listener.getsockname()[:2]
        address = f"[{host}]" if ":" in host else host
        typer.echo(f"Arena listens on http://{address}:{port} (stop with Ctrl-C)")
        await server.serve(sockets=[listener])


def _without_tracebacks(app: ASGIApp) -> ASGIApp:
    """Answer requests that are cancelled because the server stops; uvicorn would log an error."""

    async def call(scope: Scope, receive: Receive, send: Send) -> None:
        has_started = False

        async def note(message: Message) -> None:
            nonlocal has_started
            has_started = True
            await send(message)

        try:
            await app(scope, receive, note)
        except asyncio.CancelledError:
            if not has_started:
                answer = problem(503, "server_stops", "the server stops; send the request again")
                await answer(scope, receive, send)

    return call


class _Server(uvicorn.Server):
    """A server with bounded connections.

    It leaves signals to Arena, which closes its rooms before it exits.
    """

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to accept connections."""
        await self.lifespan.startup()
        connections = Connections(allowed_connections())
        protocol = partial(
            BoundedConnection,
            connections,
            config=self.config,
            server_state=self.server_state,
            app_state=self.lifespan.state,
        )
        listeners: list[Any] = [Listener(one, connections, protocol) for one in sockets or ()]
        self.servers = listeners
        self.started = True

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Capture none."""
        yield
