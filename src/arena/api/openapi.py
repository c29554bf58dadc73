"""The description of the API: what the routes cannot tell by themselves is added here."""

from typing import Any

from fastapi import FastAPI

from arena.schemas import Problem

REFERENCE = "#/components/schemas/{model}"

TAGS = {
    "tests": "What is asked: the tests and the state of their files.",
    "agents": "Who answers.",
    "runs": "Benchmark runs: create, execute, watch, read.",
    "server": "The server itself.",
}

TOKEN = {
    "type": "http",
    "scheme": "bearer",
    "description": "Needed where the server has tokens; it stands for a team.",
}


def complete_openapi(app: FastAPI) -> None:
    """Make the app describe its errors, its tokens and its parts."""
    made = app.openapi

    def openapi() -> dict[str, Any]:
        document = made()
        schemas = document["components"]["schemas"]
        # Routes name the problem by reference only, so its schema is not among the others.
        problem = Problem.model_json_schema(ref_template=REFERENCE)
        schemas.update(problem.pop("$defs", {}))
        schemas["Problem"] = problem
        for replaced in ("HTTPValidationError", "ValidationError"):
            schemas.pop(replaced, None)
        document["components"]["securitySchemes"] = {"token": TOKEN}
        document["security"] = [{}, {"token": []}]
        document["tags"] = [{"name": name, "description": told} for name, told in TAGS.items()]
        return document

    app.openapi = openapi
