"""The page `/docs` describes the whole API, without scripts or foreign servers."""

import re

import httpx2

from arena.operations.operation import operations_of
from arena.operations.operations import Operations


async def test_the_page_shows_every_operation_and_every_schema(local: httpx2.AsyncClient):
    page = (await local.get("/docs")).text
    document = (await local.get("/api/openapi.json")).json()
    for operation in operations_of(Operations):
        assert f'id="{operation.id}"' in page
        assert f"<code>{operation.wire.path}</code>" in page
    for name in document["components"]["schemas"]:
        assert f'id="schema-{name}"' in page
    targets = set(re.findall(r'href="#([^"]+)"', page))
    assert targets <= set(re.findall(r'id="([^"]+)"', page))


async def test_the_page_needs_no_script_and_no_other_server(local: httpx2.AsyncClient):
    answer = await local.get("/docs")
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; style-src 'nonce-")
    assert "unsafe" not in policy
    assert "<script" not in answer.text
    assert " style=" not in answer.text
    assert re.findall(r'(?:href|src)="(?!#)([^"]+)"', answer.text) == ["/api/openapi.json"]
    again = (await local.get("/docs")).headers["content-security-policy"]
    assert again != policy  # a nonce is used once


async def test_the_page_is_as_public_as_the_document_that_it_shows(opened):
    async with opened(tokens=("web:a-token-of-the-team-web",)) as client:
        for path in ("/docs", "/api/openapi.json"):
            assert (await client.get(path)).status_code == 200
        assert (await client.get("/api/benchmarks/runs")).status_code == 401
