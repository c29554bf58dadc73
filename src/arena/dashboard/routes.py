"""The routes of the dashboard, and its security headers."""

import secrets
from pathlib import Path

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, PlainTextResponse, RedirectResponse

from arena.dashboard.built import ABSENT, DIST, BuiltPage

PATH = "/agent-dashboard"
PLACEHOLDER = "ARENA_NONCE"
"""In the built page, replaced by the nonce of each response; see web/vite.config.ts."""
NEEDS_TOKEN = "ARENA_NEEDS_TOKEN"
"""In the built page, replaced by `true` or `false`; see web/index.html."""

ONE_YEAR = "public, max-age=31536000, immutable"


def dashboard_router(folder: Path = DIST, *, needs_token: bool = False) -> APIRouter:
    """Serve the files in `folder`, and the page itself under every other path.

    The page knows whether the API needs a token, so that it asks before its first request.
    """
    page = BuiltPage(folder)
    router = APIRouter(include_in_schema=False)

    @router.get("/")
    async def root() -> RedirectResponse:
        return RedirectResponse(PATH)

    @router.get(PATH + "/assets/{name:path}")
    async def asset(request: Request, name: str) -> Response:
        # The names contain a hash of the content, so a name never changes its content.
        return _file(page, f"assets/{name}", request, ONE_YEAR)

    @router.get(PATH + "/icon.svg")
    async def icon(request: Request) -> Response:
        return _file(page, "icon.svg", request, "public, max-age=3600")

    @router.get(PATH)
    @router.get(PATH + "/{view:path}")
    async def view() -> HTMLResponse:
        # The page itself finds the view that belongs to the address.
        return _page(page.index, needs_token)

    return router


def _page(index: str | None, needs_token: bool) -> HTMLResponse:
    """The page with a fresh nonce: only styles that carry it take effect."""
    # New for each response: a known nonce would let injected styles through.
    nonce = secrets.token_urlsafe(16)
    text = (ABSENT if index is None else index).replace(PLACEHOLDER, nonce)
    text = text.replace(NEEDS_TOKEN, "true" if needs_token else "false")
    headers = {**_headers(nonce), "Cache-Control": "no-cache"}
    return HTMLResponse(text, status_code=404 if index is None else 200, headers=headers)


def _file(page: BuiltPage, name: str, request: Request, cache: str) -> Response:
    asset = page.asset(name)
    if asset is None:
        return PlainTextResponse("file not found", 404, {"Cache-Control": "no-cache"})
    headers = {
        "Cache-Control": cache,
        "Vary": "Accept-Encoding",
        "X-Content-Type-Options": "nosniff",
    }
    body = asset.body
    if asset.gzipped and "gzip" in request.headers.get("accept-encoding", ""):
        body, headers["Content-Encoding"] = asset.gzipped, "gzip"
    return Response(body, media_type=asset.media_type, headers=headers)


def _headers(nonce: str) -> dict[str, str]:
    """The page may use its own scripts and its own server, and may not be framed."""
    policy = (
        "default-src 'none'",
        "script-src 'self'",
        # Mantine writes its variables into <style> elements, which need the nonce.
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
