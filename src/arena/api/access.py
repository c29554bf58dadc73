"""Access control: who may send requests, and for which team.

Without tokens Arena is open, but only to this machine: requests with another Host or Origin are
refused, so that a page in the user's browser cannot control it. With tokens every request needs
one, and a token is valid for its own team only.
"""

import hmac
from collections.abc import Mapping
from ipaddress import ip_address
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import Depends, Header, Query, Request
from starlette.datastructures import Headers

from arena.errors import Forbidden, InvalidInput, Unauthorized
from arena.fields import MAX_NAME_LENGTH
from arena.settings import Settings


def is_loopback(host: str) -> bool:
    """Whether an address can only be reached from this machine."""
    if host == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def check_address(settings: Settings) -> None:
    """Refuse to listen on a public address without tokens."""
    if not settings.tokens and not is_loopback(settings.host):
        raise InvalidInput(
            f"refusing to listen on {settings.host} without tokens: set ARENA_TOKENS="
            "team:token (a token of at least 16 characters), or listen on 127.0.0.1"
        )


class Access:
    """Authorises requests by the configured tokens."""

    def __init__(self, team_by_token: Mapping[str, str]) -> None:
        self._team_by_token = team_by_token

    @property
    def is_local(self) -> bool:
        """Whether no token is needed."""
        return not self._team_by_token

    def team_of(self, authorization: str | None) -> str:
        """The team of a request's token."""
        scheme, _, sent = (authorization or "").partition(" ")
        if scheme.lower() != "bearer":
            raise Unauthorized
        found = None
        for token, team in self._team_by_token.items():
            # All tokens are compared, each in constant time, so that timing reveals nothing.
            if hmac.compare_digest(token.encode(), sent.strip().encode()):
                found = team
        if found is None:
            raise Unauthorized("unknown token")
        return found

    def check(self, headers: Headers) -> str | None:
        """The team of a request's token, or None in local mode; an error if it has no access.

        It needs only the headers, so that the body of a stranger is never read.
        """
        if not self.is_local:
            return self.team_of(headers.get("authorization"))
        host, origin = headers.get("host", ""), headers.get("origin")
        for name, place in (("Host", f"//{host}"), ("Origin", origin)):
            if place is not None and not is_loopback(_host_of(place)):
                place = place.strip("/")
                raise Forbidden(
                    f"without tokens Arena serves only this machine, not {name} {place!r}"
                )
        return None


def authorize(request: Request) -> str | None:
    """Authorise the request; returns the token's team, or None in local mode."""
    _refuse_nul(request)
    access: Access = request.app.state.access
    return access.check(request.headers)


def _host_of(place: str) -> str:
    """The host of an address; empty if it is not valid."""
    try:
        return urlsplit(place).hostname or ""
    except ValueError:
        return ""


def _refuse_nul(request: Request) -> None:
    """Refuse NUL: no name contains it, and PostgreSQL rejects even a query with it."""
    for name, value in (*request.query_params.multi_items(), *request.path_params.items()):
        if "\0" in name or "\0" in str(value):
            raise InvalidInput(f"{name!r} must not contain NUL")


def named_team(
    token_team: Annotated[str | None, Depends(authorize)],
    team_id: Annotated[
        str | None,
        Query(min_length=1, max_length=MAX_NAME_LENGTH, description="The team; see X-Team-ID."),
    ] = None,
    x_team_id: Annotated[
        str | None,
        Header(min_length=1, max_length=MAX_NAME_LENGTH, description="The team, as a header."),
    ] = None,
) -> str | None:
    """The team the request names, by query, header or token; None if it names none."""
    team = team_id or x_team_id or token_team
    if token_team is not None and team != token_team:
        raise Forbidden(f"the token does not belong to team {team!r}")
    return team
