"""The description of the API: what the routes cannot tell by themselves is added here."""

import ast
import inspect
import json
import sys
from collections.abc import Iterable
from dataclasses import is_dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Any, get_args, get_type_hints

from fastapi import FastAPI
from pydantic import BaseModel

from arena.api.problems import responses
from arena.operations.operation import operations_of
from arena.operations.operations import Operations
from arena.schemas import Change, Problem, Progress, ResultEvent

REFERENCE = "#/components/schemas/{model}"
JSON = "application/json"
EVENTS = (Progress, ResultEvent, Change)
"""What is told to those who watch."""

TAGS = {
    "tests": "What is asked: the tests and the state of their files.",
    "agents": "Who answers.",
    "runs": "Benchmark runs: create, execute, watch, read.",
    "reviews": "What people have to judge: checklists and their answers.",
    "evaluation": "Is it good: a submission held against a standard.",
    "scores": "What it adds up to: ratings, executions, leaderboard, comparisons.",
    "verdicts": "Verdict records, and whether they hold.",
    "content": "Bytes by CID, and archives to carry them elsewhere.",
    "tasks": "Paid tasks: post, apply, submit, judge, dispute, end.",
    "market": "The market: its agents and what happens in it.",
    "ledger": "Test money: balances, history, audit.",
    "server": "The server itself.",
}

TOKEN = {
    "type": "http",
    "scheme": "bearer",
    "description": "Needed where the server has tokens; it stands for a team.",
}


def complete_openapi(app: FastAPI) -> None:
    """Make the app describe its errors, its tokens and its parts, and show an example of each."""
    made = app.openapi
    done: dict[str, Any] = {}

    def openapi() -> dict[str, Any]:
        if not done:
            done.update(made())
            _complete(done)
        return done

    app.openapi = openapi


def _complete(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    # Routes name problems by reference and send events as text: these are not among the others.
    for shape in (Problem, *EVENTS):
        described = shape.model_json_schema(ref_template=REFERENCE, mode="serialization")
        schemas.update(described.pop("$defs", {}))
        schemas[shape.__name__] = described
    for replaced in ("HTTPValidationError", "ValidationError"):
        schemas.pop(replaced, None)
    # By address: an operation that moves to another file must not move here.
    document["paths"] = dict(sorted(document["paths"].items()))
    operations = operations_of(Operations)
    streamed = (kind for one in operations for kind in (one.wire.events or {}).values())
    bodies = (one.body for one in operations if one.body)
    _describe_fields(schemas, (*(one.result for one in operations), *bodies, *streamed))
    document["components"]["securitySchemes"] = {"token": TOKEN}
    document["security"] = [{}, {"token": []}]
    document["tags"] = [{"name": name, "description": told} for name, told in TAGS.items()]
    examples = json.loads(files("arena.api").joinpath("examples.json").read_text())
    for methods in document["paths"].values():
        for operation in methods.values():
            _illustrate(operation, examples.get(operation["operationId"], {}))


def _describe_fields(schemas: dict[str, Any], kinds: Iterable[Any]) -> None:
    """Take over what stands under each field of the values: its description."""
    for kind in _values(kinds):
        properties = schemas.get(kind.__name__, {}).get("properties", {})
        for field, text in _field_texts(kind).items():
            name = _alias(kind, field)
            if name in properties:
                properties[name].setdefault("description", text)


def _values(kinds: Iterable[Any]) -> set[type]:
    """Every dataclass and model that these types are made of."""
    found: set[type] = set()
    waiting = list(kinds)
    while waiting:
        kind = waiting.pop()
        waiting += get_args(kind)
        is_value = inspect.isclass(kind) and (is_dataclass(kind) or issubclass(kind, BaseModel))
        if is_value and kind not in found:
            found.add(kind)
            waiting += get_type_hints(kind, include_extras=True).values()
    return found


def _alias(kind: type, field: str) -> str:
    """What a field is called on the wire."""
    notes = getattr(get_type_hints(kind, include_extras=True).get(field), "__metadata__", ())
    return next((note.alias for note in notes if getattr(note, "alias", None)), field)


def _field_texts(kind: type) -> dict[str, str]:
    """The string under each field of a class, also of those it inherits."""
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
    """Show what a request and its answer look like, and what a body may be refused with."""
    if "request" in example:
        operation["requestBody"]["content"][JSON]["example"] = example["request"]
    for status in ("200", "202"):
        content = operation["responses"].get(status, {}).get("content", {})
        if JSON in content and "response" in example:
            content[JSON]["example"] = example["response"]
    if "requestBody" in operation:
        operation["responses"]["400"] = responses(400)[400]
