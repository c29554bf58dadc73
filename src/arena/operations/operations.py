"""Every operation of Arena in one class."""

from arena.operations.server import ServerOperations


class Operations(ServerOperations):
    """All that Arena can do: in this process, or over HTTP."""
