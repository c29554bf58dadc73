"""The description of the API: what the routes cannot tell by themselves is added here."""

import json
from importlib.resources import files
from typing import Any

from fastapi import FastAPI

from arena.api.problems import responses
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
    document["components"]["securitySchemes"] = {"token": TOKEN}
    document["security"] = [{}, {"token": []}]
    document["tags"] = [{"name": name, "description": told} for name, told in TAGS.items()]
    examples = json.loads(files("arena.api").joinpath("examples.json").read_text())
    for operations in document["paths"].values():
        for operation in operations.values():
            _illustrate(operation, examples.get(operation["operationId"], {}))


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
