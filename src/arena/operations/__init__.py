"""The operations of Arena, each defined once.

An *operation* is a typed method whose decorator says how it goes over HTTP. The same method is
called in this process (`InProcess`: the command line without `--server`), served over HTTP (the API
makes a route of it) and sent over HTTP (`arena.client.Client`). Its body uses the rooms through
`self.arena` and works for `self.team`.

Each file is named after its noun; `operations.py` combines them. Nothing here imports FastAPI or an
HTTP library.
"""
