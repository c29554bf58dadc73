"""Errors as problem+json; one table maps them to status codes."""

import http
import logging
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any

from fastapi import FastAPI, Request
from fastapi.exceptions import HTTPException as RouteException
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import Field
from starlette.exceptions import HTTPException

from arena.errors import (
    AgentFault,
    ArenaError,
    CallerError,
    Conflict,
    Forbidden,
    InfrastructureError,
    InvalidInput,
    LimitReached,
    NotFound,
    StorageFull,
    Unauthorized,
)
from arena.operations.request import Misfit, misfits
from arena.text import to_unicode

log = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"

STATUS: tuple[tuple[type[ArenaError], int], ...] = (
    (NotFound, 404),
    (Conflict, 409),
    (InvalidInput, 422),
    (Unauthorized, 401),
    (Forbidden, 403),
    (CallerError, 400),
    (AgentFault, 502),
    (LimitReached, 429),
    (StorageFull, 507),
    (InfrastructureError, 503),
)
"""The first matching class decides."""

EXAMPLES = {
    400: "the body cannot be read as JSON",
    403: "the token does not belong to team 'mine'",
    404: "there is no run 5e06f7d4-f474-4fa8-a834-b447442a7da2",
    409: "run 5e06f7d4-f474-4fa8-a834-b447442a7da2 is completed, it cannot be executed",
    413: "the body is larger than 8 MiB",
    422: "body.trials: Input should be greater than or equal to 1",
    429: "team 'mine' has used its 1,000 judge calls of an hour; the next is free in 12 min",
    507: "the disk has less than 256 MiB left: nothing more is stored",
    503: "the database does not respond: connection refused",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Why a request failed (RFC 9457)."""

    type: str = "about:blank"
    title: Annotated[str, Field(examples=["Not Found"])]
    status: Annotated[int, Field(examples=[404])]
    code: Annotated[str, Field(examples=["not_found"])]
    """Stable: programs may rely on it."""
    detail: Annotated[
        str, Field(examples=["no agent is called 'qa-web'; did you mean 'qa-web-manager'?"])
    ]
    errors: list[Misfit] = field(default_factory=list[Misfit])
    """Each invalid part of the request."""


def problem(
    status: int, code: str, detail: str, errors: list[Misfit] | None = None
) -> JSONResponse:
    """The response for an error."""
    body = Problem(
        title=http.HTTPStatus(status).phrase,
        status=status,
        code=code,
        # The message may quote the text that was refused for its lone surrogate.
        detail=to_unicode(detail),
        errors=errors or [],
    )
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else None
    return JSONResponse(asdict(body), status, headers, media_type=MEDIA_TYPE)


class Refused(RouteException):
    """A request that is refused for how it is sent, or because there are too many.

    FastAPI passes on no other error while it reads a body.
    """

    def __init__(
        self, status: int, code: str, detail: str, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(status, detail, headers)
        self.code = code


def refusal(error: Refused) -> JSONResponse:
    """The response for a refused request."""
    answer = problem(error.status_code, error.code, str(error.detail))
    answer.headers.update(error.headers or {})
    return answer


def problem_of(error: ArenaError, shown: Callable[[str], str] = str) -> JSONResponse:
    """The response for one of our errors."""
    status = next((status for kind, status in STATUS if isinstance(error, kind)), 500)
    answer = problem(status, error.code, shown(error.message))
    if isinstance(error, InfrastructureError) and error.retryable and error.retry_after_seconds:
        answer.headers["Retry-After"] = str(math.ceil(error.retry_after_seconds))
    return answer


def responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The error responses of a route, for OpenAPI."""
    schema = {"$ref": "#/components/schemas/Problem"}
    return {
        status: {
            "description": http.HTTPStatus(status).phrase,
            "content": {MEDIA_TYPE: {"schema": schema, "example": _example(status)}},
        }
        for status in sorted({*statuses, 401, 403, 422, 503})
    }


def _example(status: int) -> dict[str, Any]:
    kind = next((kind for kind, number in STATUS if number == status), None)
    body = Problem(
        title=http.HTTPStatus(status).phrase,
        status=status,
        code=kind.code if kind else _code_of(status),
        detail=EXAMPLES.get(status) or (kind.__doc__ or "" if kind else ""),
    )
    return asdict(body)


def _code_of(status: int) -> str:
    return http.HTTPStatus(status).phrase.lower().replace(" ", "_").replace("-", "_")


def add_problems(app: FastAPI) -> None:
    """Make the app return every error in this form."""
    app.add_exception_handler(ArenaError, _arena_error)
    app.add_exception_handler(RequestValidationError, _invalid_request)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(Refused, _refused)
    app.add_exception_handler(Exception, _internal_error)


async def _arena_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, ArenaError)
    answer = problem_of(error, request.app.state.paths.hide)
    # An app without a server runs in the caller's process: the caller sees the error anyway.
    if answer.status_code >= 500 and request.app.state.serves:
        log.error("%s", error.message)
    return answer


async def _invalid_request(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    faults = misfits(error.errors())
    message = "; ".join(f"{fault.at}: {fault.message}" for fault in faults)
    return problem(422, InvalidInput.code, message, faults)


async def _refused(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, Refused)
    return refusal(error)


async def _http_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    phrase = http.HTTPStatus(error.status_code).phrase
    detail = str(error.detail)
    if error.status_code == 404 and detail == phrase:
        detail = f"there is nothing at {request.url.path}; see /api/openapi.json"
    if error.status_code == 400:
        # Only parsing a body fails like this: nested too deep, or a number with too many digits.
        detail = "the body cannot be read as JSON"
    if error.status_code == 405:
        detail = f"{request.url.path} does not support {request.method}"
    answer = problem(error.status_code, _code_of(error.status_code), detail)
    answer.headers.update(error.headers or {})
    return answer


async def _internal_error(request: Request, error: Exception) -> JSONResponse:
    # The edge of the API: a bug is logged here and never shown to the client.
    log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    return problem(500, "internal_error", "internal error; see the server's log")
