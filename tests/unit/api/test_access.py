"""Which requests are authorised."""

import pytest

from arena.api.access import Access, check_address, is_loopback
from arena.errors import InvalidInput, Unauthorized
from arena.settings import Settings

TOKEN = "a-token-of-some-length"


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.8.9.1", "::1", "[::1]"])
def test_this_machine_is_loopback(host: str):
    assert is_loopback(host)
    check_address(Settings(host=host))


@pytest.mark.parametrize(
    "host", ["0.0.0.0", "::", "10.0.0.1", "example.com", "localhost.example.com", "", "127.0.0.1.x"]
)
def test_every_other_place_needs_tokens(host: str):
    assert not is_loopback(host)
    with pytest.raises(InvalidInput, match="ARENA_TOKENS"):
        check_address(Settings(host=host))
    check_address(Settings(host=host, tokens=(f"team:{TOKEN}",)))


@pytest.mark.parametrize("authorization", [f"Bearer {TOKEN}", f"bearer  {TOKEN} "])
def test_a_token_stands_for_its_team(authorization: str):
    assert Access({TOKEN: "mine", "another-token": "other"}).team_of(authorization) == "mine"


@pytest.mark.parametrize(
    "authorization", [None, "", "Bearer", TOKEN, f"Basic {TOKEN}", f"Bearer {TOKEN}x", "Bearer é"]
)
def test_anything_else_is_no_token(authorization: str | None):
    with pytest.raises(Unauthorized):
        Access({TOKEN: "mine"}).team_of(authorization)
