"""Every error as problem+json, decided in one table."""

import http
import logging
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from arena import schemas
from arena.errors import (
    AgentFault,
    ArenaError,
    CallerError,
    Conflict,
    Forbidden,
    InfrastructureError,
    InvalidInput,
    NotFound,
    Unauthorized,
)

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
    (InfrastructureError, 503),
)
"""The first class that fits decides."""

MAX_ERRORS = 50


def problem(
    status: int, code: str, detail: str, errors: list[dict[str, Any]] | None = None
) -> JSONResponse:
    """The answer that tells what went wrong."""
    body = schemas.Problem(
        title=http.HTTPStatus(status).phrase,
        status=status,
        code=code,
        detail=detail,
        errors=errors or [],
    )
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else None
    return JSONResponse(body.model_dump(), status, headers, media_type=MEDIA_TYPE)


def responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """What a route may answer besides success, for OpenAPI."""
    schema = {"$ref": "#/components/schemas/Problem"}
    return {
        status: {
            "description": http.HTTPStatus(status).phrase,
            "content": {MEDIA_TYPE: {"schema": schema}},
        }
        for status in (*statuses, 401, 403, 422, 503)
    }


def add_problems(app: FastAPI) -> None:
    """Make the app answer every error in this form."""
    app.add_exception_handler(ArenaError, _arena_error)
    app.add_exception_handler(RequestValidationError, _misfit)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(Exception, _unforeseen)


async def _arena_error(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, ArenaError)
    status = next((status for kind, status in STATUS if isinstance(error, kind)), 500)
    if status >= 500:
        log.error("%s", error.message)
    return problem(status, error.code, error.message)


async def _misfit(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    faults = [
        {"at": ".".join(str(step) for step in fault["loc"]), "message": str(fault["msg"])}
        for fault in error.errors()[:MAX_ERRORS]
    ]
    told = "; ".join(f"{fault['at']}: {fault['message']}" for fault in faults)
    return problem(422, InvalidInput.code, told, faults)


async def _http_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    phrase = http.HTTPStatus(error.status_code).phrase
    detail = str(error.detail)
    if error.status_code == 404 and detail == phrase:
        detail = f"there is nothing at {request.url.path}; /docs lists what there is"
    if error.status_code == 405:
        detail = f"{request.url.path} does not take {request.method}"
    code = phrase.lower().replace(" ", "_").replace("-", "_")
    answer = problem(error.status_code, code, detail)
    answer.headers.update(error.headers or {})
    return answer


async def _unforeseen(request: Request, error: Exception) -> JSONResponse:
    # The edge of the house: a mistake of ours is logged here and never shown to a stranger.
    log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    return problem(500, "internal_error", "an error of Arena itself; its log tells more")
