"""Shapes on the wire, shared by the API and the client."""

from arena.schemas.wire import (
    Asked,
    Wire,
)

__all__ = [
    "Asked",
    "Wire",
]
