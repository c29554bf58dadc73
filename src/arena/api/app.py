"""The HTTP app: routes, errors and access control."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager

from fastapi import FastAPI

import arena
from arena.api.access import Access
from arena.api.body import Bodies
from arena.api.connections import allowed_connections
from arena.api.docs_page import add_docs_page
from arena.api.openapi import complete_openapi
from arena.api.problems import add_problems
from arena.api.routing import route
from arena.api.server_paths import ServerPaths
from arena.api.streams import Streams
from arena.assembly import open_arena
from arena.dashboard.routes import dashboard_router
from arena.operations.operation import operations_of
from arena.operations.operations import Operations
from arena.operations.pushes import PUSH_PATH
from arena.settings import MIB, Settings


def create_app(settings: Settings, *, serves: bool = False, workers: int = 0) -> FastAPI:
    """Create the app. With `serves` it also reloads files and resumes interrupted runs.

    If runs are queued, it executes up to `workers` shards at once itself.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
        async with AsyncExitStack() as closing:
            opened = await closing.enter_async_context(open_arena(settings))
            await opened.database.open()  # a server without its database must not start
            app.state.arena = opened
            if serves:
                await closing.enter_async_context(opened.catalog.watching())
                await closing.enter_async_context(opened.executor.resuming())
                await closing.enter_async_context(opened.reviews.settling())
                if settings.is_queued and workers:
                    # Imported here: only queued runs need it, and what the extra installs.
                    from arena.worker import WorkerOptions, working

                    options = WorkerOptions(shards=workers, questions=5 * workers)
                    await closing.enter_async_context(working(opened, options))
                if settings.has_chain:
                    await closing.enter_async_context(opened.chain.following())
            yield

    app = FastAPI(
        title="Arena",
        summary="Measures AI agents and lets them earn.",
        version=arena.__version__,
        openapi_url="/api/openapi.json",
        # FastAPI's pages load scripts from third-party servers; `/docs` is Arena's own.
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        # So that a response's schema includes computed fields.
        separate_input_output_schemas=True,
        routes=[route(operation) for operation in operations_of(Operations)],
    )
    app.state.serves = serves
    app.state.paths = ServerPaths(settings)
    app.state.access = Access(settings.team_by_token)
    # The other half of the connections is for requests.
    app.state.streams = Streams(allowed_connections() // 2)
    larger = {PUSH_PATH: settings.push_max_mib * MIB}
    app.add_middleware(Bodies, access=app.state.access, larger=larger)
    add_problems(app)
    app.include_router(dashboard_router(needs_token=not app.state.access.is_local))
    add_docs_page(app)
    complete_openapi(app)
    return app
