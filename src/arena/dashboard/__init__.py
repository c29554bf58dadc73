"""The dashboard: serves the built page of `web/` at `/agent-dashboard`.

The page is a single-page app that uses the API; this room only serves its files. If they were left
out (`ARENA_SKIP_WEB=1` at installation), a plain page says how to get them. `report/` writes pages
that need no server.
"""
