"""Routes from operations: a route parses a request, calls the operation, writes its result."""

import inspect
from collections.abc import Callable, Coroutine
from functools import cache
from typing import Annotated, Any

from fastapi import Body, Depends, Header, Path, Query, Request, Response
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute

from arena.api.access import authorize, named_team
from arena.api.json_body import JsonRequest
from arena.api.problems import responses
from arena.api.streams import EVENT_STREAM, Streams
from arena.errors import InvalidInput
from arena.operations.operation import InProcess, Operation, Parameter
from arena.operations.operations import Operations
from arena.operations.request import MAX_PLACE
from arena.team import working_for

JSON = "application/json"
BINARY: dict[str, Any] = {"schema": {"type": "string", "format": "binary"}}
TAKES_BYTES = {"requestBody": {"required": True, "content": {"application/octet-stream": BINARY}}}


class _Route(APIRoute):
    """A route whose JSON body is parsed within limits."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The function that handles a request."""
        handle = super().get_route_handler()
        if self.body_field is None:
            return handle
        kind: Any = self.body_field.field_info.annotation

        async def handle_json(request: Request) -> Response:
            return await handle(JsonRequest(request.scope, request.receive, kind))

        return handle_json


@cache
def route(operation: Operation) -> APIRoute:
    """The route of an operation."""
    wire = operation.wire
    return _Route(
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
    if wire.unavailable_unless:
        described[503] = {"model": operation.result}
    return described if wire.public else {**described, **responses(*wire.errors)}


def _endpoint(operation: Operation) -> Callable[..., Any]:
    """The function FastAPI calls, with a signature that says where each parameter is."""

    async def endpoint(**values: Any) -> Response:
        request: Request = values.pop("request_")
        operations: Operations = values.pop("operations_")
        _refuse_unknown(operation, request)
        arguments = _arguments(operation, values)
        # Not for the events of a stream: they only read what was written.
        with working_for(operations.token_team or operations.team):
            result = await operation.function(operations, **arguments)
        if operation.wire.events is not None:
            streams: Streams = request.app.state.streams
            return streams.open(operations.team, result)
        return _respond(operation, arguments, result)

    parameters = [
        _keyword("request_", Request),
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
    return _operations(request)


def _without_team(
    request: Request, token_team: Annotated[str | None, Depends(authorize)]
) -> Operations:
    return _operations(request, token_team=token_team)


def _for_team(
    request: Request,
    token_team: Annotated[str | None, Depends(authorize)],
    team_id: Annotated[str | None, Depends(named_team)],
) -> Operations:
    return _operations(request, team_id=team_id, token_team=token_team)


def _operations(request: Request, **caller: str | None) -> Operations:
    state = request.app.state
    return Operations(InProcess(arena=state.arena, shown=state.paths.hide, **caller))


async def _read_body(request: Request) -> bytes:
    return await request.body()


TEAM = "team_id"
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


def _refuse_unknown(operation: Operation, request: Request) -> None:
    """Refuse a query parameter that the operation does not have: it would have no effect."""
    known = {one.alias for one in operation.parameters if one.place == "query"}
    for name in request.query_params:
        # A team may be named everywhere: the seed's page adds it to every address.
        if name not in known and name != TEAM:
            names = ", ".join(sorted({*known, TEAM}))
            raise InvalidInput(f"query.{name[:MAX_PLACE]}: unknown parameter; known: {names}")


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
    if wire.media_type is not None:
        return Response(result, media_type=wire.media_type, headers=headers)
    status = 200
    if wire.accepted_unless is not None and not arguments[wire.accepted_unless]:
        status = 202
    if wire.unavailable_unless is not None and not getattr(result, wire.unavailable_unless):
        status = 503
    # Not by FastAPI: it would first copy every value into dictionaries and validate them again.
    content = operation.adapter.dump_json(result, by_alias=True)
    return Response(content, status, headers, media_type=JSON)
