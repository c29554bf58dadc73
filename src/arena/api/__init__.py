"""The HTTP API on port 5109. Routes only translate; the rooms do the work."""

from arena.api.app import create_app

__all__ = ["create_app"]
