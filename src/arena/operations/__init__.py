"""What Arena can do, each thing defined once.

An *operation* is a typed method with its place on the wire in a decorator. The same method is
called in this process (`InProcess`: the command line without `--server`), served over HTTP (the
API makes a route of it) and sent over HTTP (`arena.client.Client`). A body talks to the rooms
through `self.arena` and works for `self.team`.

Files are named for the noun they are about;
`operations.py` puts them together. Nothing here imports FastAPI or an HTTP library.
"""
