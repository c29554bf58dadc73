"""An IPFS gateway: content is read from it block by block, and nothing it sends is trusted."""

import httpx2

from arena.content.cid import Cid
from arena.content.errors import (
    ContentPending,
    FormatIgnored,
    RedirectRefused,
    SourceFailed,
    SourceRefused,
)
from arena.content.network import NetworkStore, Session, shown_address
from arena.content.store import MAX_BLOCK_BYTES, MAX_BYTES

RAW_BLOCK = "application/vnd.ipld.raw"
NOT_FOUND = (404, 504)
"""The statuses of gateways that did not find a block: 504 if the search took too long."""
REFUSED = (401, 403, 410, 451)
"""Those that do not return it to us, or to anybody."""
MAX_REDIRECTS = 3
MAX_SHOWN = 200
"""Characters of a text from the gateway in a message."""


class GatewayStore(NetworkStore):
    """Reads content from a gateway, as `GET /ipfs/{cid}?format=raw`."""

    def __init__(self, url: str, *, timeout_seconds: float, max_bytes: int = MAX_BYTES) -> None:
        super().__init__(
            f"the gateway {shown_address(url)}",
            timeout_seconds=timeout_seconds,
            max_bytes=max_bytes,
        )
        self._url = url.rstrip("/").removesuffix("/ipfs")

    def request_block(self, session: Session, cid: Cid) -> bytes:
        """The bytes that the gateway sends for a block, not verified yet."""
        url = httpx2.URL(f"{self._url}/ipfs/{cid}", params={"format": "raw"})
        for _ in range(MAX_REDIRECTS + 1):
            with session.request("GET", str(url), headers={"accept": RAW_BLOCK}) as response:
                if not response.has_redirect_location:
                    self._check(response, cid)
                    return session.read(response, MAX_BLOCK_BYTES)
                url = self.redirected(url, response.headers["location"], cid)
        raise RedirectRefused(f"{self.name} redirects more than {MAX_REDIRECTS} times")

    def redirected(self, url: httpx2.URL, location: str, cid: Cid) -> httpx2.URL:
        """The address a redirect leads to, if it is the gateway's own.

        A gateway may move a CID to its own subdomain. Any other host was not configured: following
        would let a gateway make this machine send requests into its own network.
        """
        try:
            target = url.join(location)
        except httpx2.InvalidURL:
            raise RedirectRefused(f"{self.name} redirects to an invalid address") from None
        own = httpx2.URL(self._url)
        hosts = (own.host, f"{cid.key}.ipfs.{own.host}")
        if (target.scheme, target.port) != (own.scheme, own.port) or target.host not in hosts:
            elsewhere = shown_address(str(target))[:MAX_SHOWN]
            raise RedirectRefused(f"{self.name} redirects to {elsewhere}, which is not its own")
        return target

    def _check(self, response: httpx2.Response, cid: Cid) -> None:
        status = response.status_code
        if status in NOT_FOUND:
            raise ContentPending(f"{self.name} does not have {cid}")
        if status in REFUSED:
            raise SourceRefused(f"{self.name} does not allow access to {cid} (HTTP {status})")
        if status != 200:
            raise SourceFailed(f"{self.name} answered with HTTP {status} instead of {cid}")
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != RAW_BLOCK:
            raise FormatIgnored(
                f"{self.name} ignores format=raw: it sent {kind[:MAX_SHOWN]!r} instead of a block, "
                "and only blocks can be verified; use a trustless gateway"
            )
