"""The door for the eye: finds the built page of `web/` and serves it at `/agent-dashboard`.

The page is a single page app that talks to the API; this room knows nothing but its files. Where
they were left out (`ARENA_SKIP_WEB=1` at installation) a plain page says how to get them.
`report/` writes pages that need no server.
"""

from arena.dashboard.routes import PATH, dashboard_router

__all__ = ["PATH", "dashboard_router"]
