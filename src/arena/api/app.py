"""The HTTP app: routes, errors and access put together."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager

from fastapi import Depends, FastAPI

import arena
from arena.api.access import Access, authorize
from arena.api.problems import add_problems
from arena.api.routes import agents, home, runs, tests
from arena.assembly import open_arena
from arena.schemas import Problem
from arena.settings import Settings


def create_app(settings: Settings, *, serves: bool = False) -> FastAPI:
    """The app. One that `serves` also reloads files and resumes what was interrupted."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
        async with AsyncExitStack() as closing:
            house = await closing.enter_async_context(open_arena(settings))
            app.state.arena = house
            if serves:
                await closing.enter_async_context(house.catalog.watching())
                await house.runs.resume_interrupted()
            yield

    app = FastAPI(
        title="Arena",
        summary="Measures AI agents and lets them earn.",
        version=arena.__version__,
        openapi_url="/api/openapi.json",
        # Their pages load scripts from other people's servers; the JSON is enough for tools.
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        separate_input_output_schemas=False,
    )
    app.state.access = Access(settings.team_by_token)
    add_problems(app)
    app.include_router(home.router)
    for router in (tests.router, agents.router, runs.router):
        app.include_router(router, dependencies=[Depends(authorize)])
    _add_problem_schema(app)
    return app


def _add_problem_schema(app: FastAPI) -> None:
    """Routes name the problem by reference only, so its schema is added by hand."""
    made = app.openapi

    def openapi() -> dict[str, object]:
        document = made()
        schema = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
        document["components"]["schemas"]["Problem"] = schema
        for name in ("HTTPValidationError", "ValidationError"):
            document["components"]["schemas"].pop(name, None)
        return document

    app.openapi = openapi
