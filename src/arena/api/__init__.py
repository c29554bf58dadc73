"""Door 1: HTTP on port 5109. Routes translate; what they do lives in the rooms."""

from arena.api.app import create_app

__all__ = ["create_app"]
