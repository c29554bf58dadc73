"""Routes from operations: a route parses a request, calls the operation, writes its result."""

import asyncio
import inspect
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from functools import cache
from typing import Annotated, Any, cast

from fastapi import Body, Depends, Header, Path, Query, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse
from fastapi.routing import APIRoute
from pydantic import TypeAdapter

from arena.api.access import authorize, named_team
from arena.api.problems import responses
from arena.operations.operation import Events, InProcess, Operation, Parameter
from arena.operations.operations import Operations
from arena.team import working_for

JSON = "application/json"
BINARY: dict[str, Any] = {"schema": {"type": "string", "format": "binary"}}
TAKES_BYTES = {"requestBody": {"required": True, "content": {"application/octet-stream": BINARY}}}
EVENT_STREAM = "text/event-stream"
SILENCE_SECONDS = 15.0
"""A comment is sent after this time without events, so that proxies keep the connection."""


@cache
def route(operation: Operation) -> APIRoute:
    """The route of an operation."""
    wire = operation.wire
    return APIRoute(
        wire.path,
        _endpoint(operation),
        methods=[wire.method],
        name=operation.id,
        operation_id=operation.id,
        tags=[wire.tag],
        summary=operation.id.replace("_", " ").title(),
        description=inspect.getdoc(operation.function),
        response_model=operation.result if _answers_json(operation) else None,
        response_class=JSONResponse if _answers_json(operation) else Response,
        responses=_responses(operation),
        openapi_extra=TAKES_BYTES if _has(operation, "bytes") else None,
    )


def _answers_json(operation: Operation) -> bool:
    return operation.wire.events is None and operation.wire.media_type is None


def _has(operation: Operation, place: str) -> bool:
    return any(one.place == place for one in operation.parameters)


def _responses(operation: Operation) -> dict[int | str, dict[str, Any]]:
    wire = operation.wire
    described: dict[int | str, dict[str, Any]] = {}
    if wire.events is not None:
        text = {EVENT_STREAM: {"schema": {"type": "string"}}}
        described[200] = {"description": wire.description, "content": text}
    elif wire.media_type is not None:
        described[200] = {"description": wire.description, "content": {wire.media_type: BINARY}}
    if wire.accepted_unless:
        described[202] = {"model": operation.result}
    return described if wire.public else {**described, **responses(*wire.errors)}


def _endpoint(operation: Operation) -> Callable[..., Any]:
    """The function FastAPI calls, with a signature that says where each parameter is."""

    async def endpoint(**values: Any) -> Response:
        operations: Operations = values.pop("operations_")
        arguments = _arguments(operation, values)
        # Not for the events of a stream: they only read what was written.
        with working_for(operations.token_team or operations.team):
            result = await operation.function(operations, **arguments)
        return _respond(operation, arguments, result)

    parameters = [
        inspect.Parameter(
            "operations_",
            inspect.Parameter.KEYWORD_ONLY,
            annotation=Annotated[Operations, Depends(_caller(operation))],
        ),
        *_parameters(operation),
    ]
    endpoint.__signature__ = inspect.Signature(parameters)  # pyright: ignore[reportFunctionMemberAccess]
    endpoint.__name__ = operation.id
    endpoint.__doc__ = operation.function.__doc__
    return endpoint


def _caller(operation: Operation) -> Callable[..., Operations]:
    """The dependency that gives the operations for the caller."""
    if operation.wire.public:
        return _anyone
    return _for_team if operation.wire.team else _without_team


def _anyone(request: Request) -> Operations:
    return Operations(InProcess(arena=request.app.state.arena))


def _without_team(
    request: Request, token_team: Annotated[str | None, Depends(authorize)]
) -> Operations:
    return Operations(InProcess(arena=request.app.state.arena, token_team=token_team))


def _for_team(
    request: Request,
    token_team: Annotated[str | None, Depends(authorize)],
    team_id: Annotated[str | None, Depends(named_team)],
) -> Operations:
    arena = request.app.state.arena
    return Operations(InProcess(arena=arena, team_id=team_id, token_team=token_team))


async def _read_body(request: Request) -> bytes:
    return await request.body()


SOURCES: dict[str, Any] = {"path": Path, "query": Query, "header": Header}


def _parameters(operation: Operation) -> list[inspect.Parameter]:
    found = [_parameter(one) for one in operation.parameters if one.place != "field"]
    if _has(operation, "field"):
        found.append(_keyword("body_", Annotated[operation.body, Body()]))
    return found


def _parameter(one: Parameter) -> inspect.Parameter:
    if one.place == "bytes":
        return _keyword(one.name, Annotated[bytes, Depends(_read_body)])
    if one.place == "body":
        return _keyword(one.name, Annotated[one.annotation, Body()])
    source = SOURCES[one.place](alias=one.alias if one.alias != one.name else None)
    return _keyword(one.name, Annotated[one.annotation, source], one.default)


def _keyword(name: str, annotation: Any, default: Any = inspect.Parameter.empty) -> Any:
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default
    )


def _arguments(operation: Operation, values: dict[str, Any]) -> dict[str, Any]:
    """The arguments of the operation, by name."""
    body = values.pop("body_", None)
    if body is None:
        return values
    return values | {
        one.name: getattr(body, one.name) for one in operation.parameters if one.place == "field"
    }


def _respond(operation: Operation, arguments: dict[str, Any], result: Any) -> Response:
    wire = operation.wire
    headers = dict(wire.response_headers or {})
    if wire.events is not None:
        return _stream(_as_sse(result))
    if wire.media_type is not None:
        return Response(result, media_type=wire.media_type, headers=headers)
    is_accepted = wire.accepted_unless is not None and not arguments[wire.accepted_unless]
    # Not by FastAPI: it would first copy every value into dictionaries and validate them again.
    content = operation.adapter.dump_json(result, by_alias=True)
    return Response(content, 202 if is_accepted else 200, headers, media_type=JSON)


async def _as_sse(events: Events) -> AsyncGenerator[str]:
    """Events as server-sent events."""
    async with aclosing(events):
        async for event in events:
            head = "" if event.id is None else f"id: {event.id}\n"
            kind = cast(type[object], type(event.data))
            data = _adapter(kind).dump_json(event.data, by_alias=True).decode()
            yield f"{head}event: {event.name}\ndata: {data}\n\n"


@cache
def _adapter(kind: type[object]) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def _stream(events: AsyncGenerator[str]) -> StreamingResponse:
    """The response that sends these events."""
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(_keep_alive(events), media_type=EVENT_STREAM, headers=headers)


async def _keep_alive(events: AsyncGenerator[str]) -> AsyncGenerator[str]:
    coming = asyncio.ensure_future(anext(events, None))
    try:
        while True:
            done, _ = await asyncio.wait({coming}, timeout=SILENCE_SECONDS)
            if not done:
                yield ": still here\n\n"
                continue
            text = coming.result()
            if text is None:
                return
            yield text
            coming = asyncio.ensure_future(anext(events, None))
    finally:
        # The watcher has disconnected or the stream has ended: stop the polling behind it.
        coming.cancel()
        await asyncio.gather(coming, return_exceptions=True)
        await events.aclose()
