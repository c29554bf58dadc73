"""The routes of the page, and the headers that keep it safe."""

import secrets
from pathlib import Path

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, PlainTextResponse, RedirectResponse

from arena.dashboard.absent import ABSENT
from arena.dashboard.built import DIST, BuiltPage

PATH = "/agent-dashboard"
PLACEHOLDER = "ARENA_NONCE"
"""Stands in the built page where the nonce of an answer goes; see web/vite.config.ts."""

ONE_YEAR = "public, max-age=31536000, immutable"


def dashboard_router(folder: Path = DIST) -> APIRouter:
    """Serves the page in `folder`: its files, and the page itself under every other name."""
    page = BuiltPage(folder)
    router = APIRouter(include_in_schema=False)

    @router.get("/")
    async def front_door() -> RedirectResponse:
        return RedirectResponse(PATH)

    @router.get(PATH + "/assets/{name:path}")
    async def asset(request: Request, name: str) -> Response:
        # Their names carry a hash of their content: one name never means two things.
        return _file(page, f"assets/{name}", request, ONE_YEAR)

    @router.get(PATH + "/icon.svg")
    async def icon(request: Request) -> Response:
        return _file(page, "icon.svg", request, "public, max-age=3600")

    @router.get(PATH)
    @router.get(PATH + "/{view:path}")
    async def view() -> HTMLResponse:
        # Which view an address means is for the page to say.
        return _page(page.index)

    return router


def _page(index: str | None) -> HTMLResponse:
    """The page with a nonce of its own: only styles that know it are let in."""
    nonce = secrets.token_urlsafe(16)
    text = (ABSENT if index is None else index).replace(PLACEHOLDER, nonce)
    headers = {**_headers(nonce), "Cache-Control": "no-cache"}
    return HTMLResponse(text, status_code=404 if index is None else 200, headers=headers)


def _file(page: BuiltPage, name: str, request: Request, cache: str) -> Response:
    asset = page.asset(name)
    if asset is None:
        return PlainTextResponse("there is no such file", 404, {"Cache-Control": "no-cache"})
    headers = {
        "Cache-Control": cache,
        "Vary": "Accept-Encoding",
        "X-Content-Type-Options": "nosniff",
    }
    body = asset.body
    if asset.packed and "gzip" in request.headers.get("accept-encoding", ""):
        body, headers["Content-Encoding"] = asset.packed, "gzip"
    return Response(body, media_type=asset.media_type, headers=headers)


def _headers(nonce: str) -> dict[str, str]:
    """What the page may do: its own scripts, its own server, and nobody may frame it."""
    policy = (
        "default-src 'none'",
        "script-src 'self'",
        # Mantine writes its variables into <style> elements; without the nonce none takes effect.
        f"style-src 'self' 'nonce-{nonce}'",
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
    return {
        "Content-Security-Policy": "; ".join(policy),
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Opener-Policy": "same-origin",
    }
