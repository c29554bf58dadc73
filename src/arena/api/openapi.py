"""The OpenAPI document: adds what FastAPI cannot derive from the routes."""

import ast
import asyncio
import inspect
import json
import sys
from collections.abc import Iterable
from dataclasses import is_dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise
from threading import Lock
from typing import Any, get_args, get_type_hints

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, TypeAdapter

from arena.api.problems import Problem, responses
from arena.fields import alias_of
from arena.operations.operation import operations_of
from arena.operations.operations import Operations

REFERENCE = "#/components/schemas/{model}"
JSON = "application/json"

TAGS = {
    "tests": "The tests and the state of their files.",
    "agents": "The agents.",
    "runs": "Benchmark runs: create, execute, watch, read.",
    "reviews": "Reviews by people: checklists and their answers.",
    "evaluation": "Judge a submission by a standard.",
    "scores": "Ratings, executions, leaderboard, comparisons.",
    "suites": "Suites, their versions and their boards.",
    "verdicts": "Verdict records and their verification.",
    "content": "Content by CID, and archives to transfer it.",
    "tasks": "Paid tasks: post, apply, submit, judge, dispute, end.",
    "market": "The market: its agents and events.",
    "ledger": "Test money: balances, history, audit.",
    "server": "The server itself.",
}

TOKEN = {
    "type": "http",
    "scheme": "bearer",
    "description": "Required if the server has tokens; it identifies a team.",
}


def complete_openapi(app: FastAPI) -> None:
    """Add errors, tokens, tags and examples to the app's OpenAPI document."""
    make = app.openapi
    making = Lock()

    @cache
    def made() -> dict[str, Any]:
        document = make()
        _complete(document)
        return document

    def openapi() -> dict[str, Any]:
        with making:  # of several first readers one makes it, and nobody gets a part
            return made()

    app.openapi = openapi
    _serve_once_made(app)


def _serve_once_made(app: FastAPI) -> None:
    """Serve the document from memory: FastAPI writes its 300 KB again for everyone who asks."""
    path = app.openapi_url or ""
    app.router.routes[:] = [one for one in app.router.routes if getattr(one, "path", "") != path]

    @cache
    def response() -> Response:
        return JSONResponse(app.openapi())

    async def document(_request: Request) -> Response:
        if not response.cache_info().currsize:
            # In a thread: making it takes a moment, and other requests must not wait for it.
            await asyncio.to_thread(response)
        return response()

    app.add_route(path, document, include_in_schema=False)


def _complete(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    operations = operations_of(Operations)
    events = {kind for one in operations for kind in (one.wire.events or {}).values()}
    # Routes refer to problems and send events as text: FastAPI does not list their schemas.
    for kind in (Problem, *sorted(events, key=lambda kind: kind.__name__)):
        described = TypeAdapter(kind).json_schema(ref_template=REFERENCE, mode="serialization")
        schemas.update(described.pop("$defs", {}))
        schemas[kind.__name__] = described
    for replaced in ("HTTPValidationError", "ValidationError"):
        schemas.pop(replaced, None)
    # Sorted by path: moving an operation to another file must not change the document.
    document["paths"] = dict(sorted(document["paths"].items()))
    answers = (one.result for one in operations if one.wire.events is None)
    results = _values((*answers, *events, Problem))
    requests = _values(one.body for one in operations if one.body)
    _describe_fields(schemas, results | requests)
    for kind in results - requests:
        # Every field of a result is always present, even one with a default.
        schemas[kind.__name__]["required"] = list(schemas[kind.__name__]["properties"])
    document["components"]["securitySchemes"] = {"token": TOKEN}
    document["security"] = [{}, {"token": []}]
    document["tags"] = [{"name": name, "description": text} for name, text in TAGS.items()]
    examples = json.loads(files("arena.api").joinpath("examples.json").read_text())
    for methods in document["paths"].values():
        for operation in methods.values():
            _illustrate(operation, examples.get(operation["operationId"], {}))


def _describe_fields(schemas: dict[str, Any], kinds: Iterable[type]) -> None:
    """Describe each field by the string under it."""
    for kind in kinds:
        properties = schemas.get(kind.__name__, {}).get("properties", {})
        names = {name: alias_of(hint) or name for name, hint in _hints(kind).items()}
        for field, text in _field_texts(kind).items():
            if names.get(field) in properties:
                properties[names[field]].setdefault("description", text)


def _values(kinds: Iterable[Any]) -> set[type]:
    """Every dataclass and model within these types."""
    found: set[type] = set()
    waiting = list(kinds)
    while waiting:
        kind = waiting.pop()
        waiting += get_args(kind)
        is_value = inspect.isclass(kind) and (is_dataclass(kind) or issubclass(kind, BaseModel))
        if is_value and kind not in found:
            found.add(kind)
            waiting += _hints(kind).values()
    return found


def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)


def _field_texts(kind: type) -> dict[str, str]:
    """The string under each field of a class, including inherited fields."""
    texts: dict[str, str] = {}
    for owner in reversed(kind.__mro__):
        body = _classes(owner.__module__).get(owner.__qualname__)
        for field, text in pairwise(body or ()):
            match field, text:
                case (
                    ast.AnnAssign(target=ast.Name(id=name)),
                    ast.Expr(value=ast.Constant(value=str(written))),
                ):
                    texts[name] = inspect.cleandoc(written)
                case _:
                    pass
    return texts


@cache
def _classes(module: str) -> dict[str, list[ast.stmt]]:
    """The bodies of a module's classes, by name."""
    if not module.startswith("arena."):
        return {}
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {node.name: node.body for node in tree.body if isinstance(node, ast.ClassDef)}


def _illustrate(operation: dict[str, Any], example: dict[str, Any]) -> None:
    """Add examples of the request and the response, and the error for a bad body."""
    if "request" in example:
        operation["requestBody"]["content"][JSON]["example"] = example["request"]
    for status in ("200", "202"):
        content = operation["responses"].get(status, {}).get("content", {})
        if JSON in content and "response" in example:
            content[JSON]["example"] = example["response"]
    if "requestBody" in operation:
        operation["responses"]["400"] = responses(400)[400]
