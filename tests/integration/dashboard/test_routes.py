"""The page is served safely and cached correctly; if it was not built, it says how to get it."""

import gzip
import re
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest
from fastapi import FastAPI

from arena.dashboard.routes import dashboard_router

SCRIPT = "console.log('arena')" * 50


@pytest.fixture
def dist(tmp_path: Path) -> Path:
    """A built page."""
    folder = tmp_path / "dist"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text('<meta property="csp-nonce" nonce="ARENA_NONCE">')
    (folder / "assets" / "index-abc.js").write_text(SCRIPT)
    (folder / "icon.svg").write_text("<svg/>")
    (tmp_path / "secret.txt").write_text("secret")
    (folder / "assets" / "link.js").symlink_to(tmp_path / "secret.txt")
    return folder


def client_of(folder: Path, *, needs_token: bool = False) -> httpx2.AsyncClient:
    app = FastAPI()
    app.include_router(dashboard_router(folder, needs_token=needs_token))
    return httpx2.AsyncClient(base_url="http://localhost", transport=httpx2.ASGITransport(app))


@pytest.fixture
async def client(dist: Path) -> AsyncIterator[httpx2.AsyncClient]:
    async with client_of(dist) as opened:
        yield opened


async def test_the_root_redirects_to_the_page(client: httpx2.AsyncClient):
    answer = await client.get("/")
    assert (answer.status_code, answer.headers["location"]) == (307, "/agent-dashboard")


@pytest.mark.parametrize("path", ["", "/", "/runs/1/results/2", "/teams/a%2Fb/leaderboard"])
async def test_every_view_is_the_page(client: httpx2.AsyncClient, path: str):
    answer = await client.get(f"/agent-dashboard{path}")
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-cache"
    assert answer.headers["content-type"].startswith("text/html")


@pytest.mark.parametrize(("needs_token", "word"), [(True, "true"), (False, "false")])
async def test_the_page_knows_whether_a_token_is_needed(dist: Path, needs_token: bool, word: str):
    (dist / "index.html").write_text('<meta name="arena-needs-token" content="ARENA_NEEDS_TOKEN">')
    async with client_of(dist, needs_token=needs_token) as client:
        answer = await client.get("/agent-dashboard")
    assert f'content="{word}"' in answer.text


async def test_the_policy_allows_only_own_scripts_and_styles_with_a_fresh_nonce(
    client: httpx2.AsyncClient,
):
    nonces = set()
    for _ in range(3):
        answer = await client.get("/agent-dashboard")
        policy = answer.headers["content-security-policy"]
        assert "unsafe" not in policy
        for part in ("default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"):
            assert part in policy.split("; ")
        (nonce,) = re.findall("'nonce-([^']{20,})'", policy)
        assert f'nonce="{nonce}"' in answer.text
        nonces.add(nonce)
    assert len(nonces) == 3
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"


async def test_assets_are_compressed_and_cached_for_ever(client: httpx2.AsyncClient):
    path = "/agent-dashboard/assets/index-abc.js"
    async with client.stream("GET", path, headers={"Accept-Encoding": "gzip"}) as compressed:
        raw = b"".join([part async for part in compressed.aiter_raw()])
    assert gzip.decompress(raw).decode() == SCRIPT
    plain = await client.get(path, headers={"Accept-Encoding": "identity"})
    assert (plain.text, "content-encoding" in plain.headers) == (SCRIPT, False)
    for answer in (compressed, plain):
        assert "immutable" in answer.headers["cache-control"]
        assert "javascript" in answer.headers["content-type"]
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["vary"] == "Accept-Encoding"


@pytest.mark.parametrize(
    "name",
    [
        "gone.js",
        "..%2F..%2Fsecret.txt",
        "%2e%2e/%2e%2e/secret.txt",
        "link.js",
        "",
        "%00",
        "x" * 300,
    ],
)
async def test_only_files_of_the_page_are_served(client: httpx2.AsyncClient, name: str):
    answer = await client.get(f"/agent-dashboard/assets/{name}")
    assert "secret" not in answer.text
    assert answer.status_code == 404
    assert "immutable" not in answer.headers.get("cache-control", "")


async def test_a_page_that_was_not_built_says_how_to_get_it(tmp_path: Path):
    async with client_of(tmp_path / "nowhere") as client:
        answer = await client.get("/agent-dashboard/leaderboard")
        assert answer.status_code == 404
        assert "pip install" in answer.text
        assert "ARENA_SKIP_WEB" in answer.text
        (nonce,) = re.findall("'nonce-([^']+)'", answer.headers["content-security-policy"])
        assert f'<style nonce="{nonce}">' in answer.text
