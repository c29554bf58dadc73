"""The description of the API is complete, correct and up to date."""

import json
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from pydantic import TypeAdapter

from app_transport import AppTransport
from arena.api import create_app
from arena.operations.operation import operations_of
from arena.operations.operations import Operations
from arena.settings import Settings

ROOT = Path(__file__).parents[3]
PROBLEM = "application/problem+json"
JSON = "application/json"


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return create_app(Settings(home=tmp_path_factory.mktemp("home"))).openapi()


def operations(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, found in document["paths"].items():
        for method, operation in found.items():
            yield f"{method.upper()} {path}", operation


@pytest.mark.parametrize("name", ["openapi.json", "cli.md"])
def test_the_reference_is_up_to_date(name: str):
    script = runpy.run_path(str(ROOT / "scripts" / "write_reference.py"))
    committed = ROOT / "docs" / "reference" / name
    assert script["pages"]()[name] == committed.read_text(), "regenerate it with: make docs"


def test_every_operation_says_what_it_does(document: dict[str, Any]):
    tags = {tag["name"] for tag in document["tags"]}
    names = [operation["operationId"] for _, operation in operations(document)]
    assert len(set(names)) == len(names)
    for _, operation in operations(document):
        assert operation["description"]
        assert set(operation["tags"]) <= tags


def test_every_error_is_a_problem_with_an_example(document: dict[str, Any]):
    for name, operation in operations(document):
        if name == "GET /api/ready":
            continue  # its 503 is its result
        errors = {
            code: response for code, response in operation["responses"].items() if code >= "4"
        }
        if name != "GET /api/health":
            assert errors.keys() >= {"401", "403", "422", "503"}, name
        if "requestBody" in operation:
            assert "400" in errors
        for code, response in errors.items():
            assert list(response["content"]) == [PROBLEM]
            example = response["content"][PROBLEM]["example"]
            assert (example["status"], bool(example["detail"])) == (int(code), True)


def test_every_body_has_an_example_that_matches_its_schema(document: dict[str, Any]):
    described = dict(operations(document))
    for operation in operations_of(Operations):
        entry = next(one for one in described.values() if one["operationId"] == operation.id)
        if JSON in entry.get("requestBody", {}).get("content", {}):
            assert operation.body
            example = entry["requestBody"]["content"][JSON]["example"]
            TypeAdapter(operation.body).validate_json(json.dumps(example))
        for code in ("200", "202"):
            content = entry["responses"].get(code, {}).get("content", {})
            if JSON in content:
                example, adapter = content[JSON]["example"], operation.adapter
                value = adapter.validate_json(json.dumps(example))
                assert adapter.dump_python(value, mode="json", by_alias=True) == example, operation


def test_the_description_is_where_the_app_says(document: dict[str, Any]):
    assert document["info"]["title"] == "Arena"
    assert document["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    assert "HTTPValidationError" not in document["components"]["schemas"]


async def test_the_document_is_written_once_however_often_it_is_read(tmp_path: Path):
    """Anyone may read it, without a token: writing it again would take 10 ms each time."""
    app = create_app(Settings(home=tmp_path))
    async with httpx2.AsyncClient(base_url="http://localhost", transport=AppTransport(app)) as api:
        first = await api.get("/api/openapi.json")
        app.openapi()["info"]["title"] = "another"
        second = await api.get("/api/openapi.json")
    assert first.json()["info"]["title"] == "Arena"
    assert second.content == first.content
