"""Why somebody decided so: an address as it is, words kept as content."""

from arena.client import Client
from arena.content.cid import parse_cid
from arena.errors import InvalidInput


async def reason_uri(client: Client, reason: str) -> str:
    """Where the reason is: the address or CID that was given, or the CID of the words."""
    if not reason.strip():
        raise InvalidInput("--reason is empty: say why, in words or by a CID or an address")
    if "://" in reason or _is_cid(reason):
        return reason
    return (await client.put_content(reason.encode())).cid


def _is_cid(text: str) -> bool:
    try:
        parse_cid(text)
    except InvalidInput:
        return False
    return True
