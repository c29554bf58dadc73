"""`arena serve`: the API on port 5109."""

import logging
from typing import Annotated

import typer
import uvicorn

from arena.api import create_app
from arena.api.access import check_address
from arena.cli.connection import settings_of
from arena.cli.options import AgentsDir, TestsDir
from arena.scoring import Weights

app = typer.Typer()


@app.command()
def serve(
    context: typer.Context,
    host: Annotated[str | None, typer.Option(help="Where to listen (127.0.0.1).")] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="The port (5109).")] = None,
    tests: TestsDir = None,
    agents: AgentsDir = None,
) -> None:
    """Serve the API until interrupted."""
    settings = settings_of(context, tests, agents)
    if host is not None:
        settings = settings.model_copy(update={"host": host})
    if port is not None:
        settings = settings.model_copy(update={"port": port})
    check_address(settings)
    Weights(**settings.weights)  # a mistake in them is told before anything is started
    level = settings.log_level.upper()
    logging.basicConfig(level=level, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    typer.echo(f"Arena listens on http://{settings.host}:{settings.port} (stop with Ctrl-C)")
    uvicorn.run(
        create_app(settings, serves=True),
        host=settings.host,
        port=settings.port,
        log_level=settings.log_level,
        timeout_graceful_shutdown=5,
    )
