"""The HTTP app: routes, errors and access control."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager

from fastapi import FastAPI

import arena
from arena.api.access import Access
from arena.api.body_limit import BodyLimit
from arena.api.openapi import complete_openapi
from arena.api.problems import add_problems
from arena.api.routing import route
from arena.assembly import open_arena
from arena.dashboard.routes import dashboard_router
from arena.operations.operation import operations_of
from arena.operations.operations import Operations
from arena.settings import Settings


def create_app(settings: Settings, *, serves: bool = False) -> FastAPI:
    """Create the app. With `serves` it also reloads files and resumes interrupted runs."""

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
            yield

    app = FastAPI(
        title="Arena",
        summary="Measures AI agents and lets them earn.",
        version=arena.__version__,
        openapi_url="/api/openapi.json",
        # These pages load scripts from third-party servers; the JSON is enough for tools.
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        # So that a response's schema includes computed fields.
        separate_input_output_schemas=True,
        routes=[route(operation) for operation in operations_of(Operations)],
    )
    app.state.serves = serves
    app.state.access = Access(settings.team_by_token)
    app.add_middleware(BodyLimit)
    add_problems(app)
    app.include_router(dashboard_router(needs_token=not app.state.access.is_local))
    complete_openapi(app)
    return app
