"""The house behind a request."""

from typing import Annotated

from fastapi import Depends, Request

from arena.assembly import Arena


def _arena(request: Request) -> Arena:
    return request.app.state.arena


House = Annotated[Arena, Depends(_arena)]
