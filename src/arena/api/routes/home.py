"""The front door and the sign of health."""

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

import arena
from arena import schemas

router = APIRouter()

PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Arena</title>
<style>
body {{ font: 1rem/1.5 system-ui; max-width: 42rem; margin: 3rem auto; padding: 0 1rem }}
</style>
<h1>Arena {version}</h1>
<p>The server is up. What it knows, as JSON:</p>
<ul>
<li><a href="/api/agents">agents</a></li>
<li><a href="/api/benchmarks/tests">tests</a> and <a href="/api/benchmarks/catalog">the state
of their files</a></li>
<li><a href="/api/benchmarks/runs">runs</a></li>
<li><a href="/api/openapi.json">the description of the whole API</a></li>
</ul>
<p>In a terminal: <code>arena --help</code>.</p>
</html>
"""


@router.get("/", include_in_schema=False)
async def home() -> HTMLResponse:
    """A page for whoever opens the address in a browser."""
    return HTMLResponse(PAGE.format(version=arena.__version__))


@router.get("/api/health", tags=["server"])
async def health() -> schemas.Health:
    """Whether the server works, and its version."""
    return schemas.Health(version=arena.__version__)
