"""A Kubo daemon: content is read from it, and published to it if somebody asks for that.

Its RPC is an administrator's interface (POST only): it must never be public. The daemon is not
trusted with content: every block it returns is hashed here, and the CIDs that it reports are
compared with ours, decoded, because one CID has several texts.
"""

import json
from typing import Any, cast

from arena.content.cid import CODECS, Cid, parse_cid
from arena.content.errors import (
    ContentPending,
    InvalidAnswer,
    OtherCid,
    PinRefused,
    RedirectRefused,
    SourceFailed,
    SourceRefused,
)
from arena.content.network import NetworkStore, Session, shown_address
from arena.content.ports import ContentSource
from arena.content.store import MAX_BLOCK_BYTES, MAX_BYTES
from arena.content.tree import CHUNK_BYTES, V0, V1, WIDTH, Profile, cid_of, profile_of
from arena.errors import InvalidInput

MAX_ANSWER_BYTES = 64 * 1024
"""Every JSON answer to these requests is shorter."""
MAX_EXCERPT = 200
NOT_FOUND = ("not found", "could not find", "deadline exceeded")
"""In the messages of a daemon that has not found a block."""
BINARY = "application/octet-stream"
IMPORT: dict[str, str | int] = {
    "chunker": f"size-{CHUNK_BYTES}",
    "max-file-links": WIDTH,
    "hash": "sha2-256",
    "trickle": "false",
    "inline": "false",
    "nocopy": "false",
    "preserve-mode": "false",
    "preserve-mtime": "false",
    "wrap-with-directory": "false",
    "only-hash": "false",
    "progress": "false",
    "pin": "false",
}
"""How `add` splits content. All of it explicitly: a daemon's configuration may have other defaults,
and then the same bytes would get another CID."""


class _Complaint(Exception):
    """The daemon answered with an error and its message."""


class KuboStore(NetworkStore):
    """The content of a Kubo daemon, by its RPC."""

    def __init__(self, url: str, *, timeout_seconds: float, max_bytes: int = MAX_BYTES) -> None:
        super().__init__(
            f"the Kubo daemon at {shown_address(url)}",
            timeout_seconds=timeout_seconds,
            max_bytes=max_bytes,
        )
        self._url = url.rstrip("/").removesuffix("/api/v0")

    def put(self, data: bytes, *, profile: Profile = V1) -> str:
        """Add `data` to the daemon, without a pin; returns its CID, which is the one we compute."""
        cid = cid_of(data, profile)
        options = IMPORT | (
            {"cid-version": 0, "raw-leaves": "false"}
            if profile == V0
            else {"cid-version": 1, "raw-leaves": "true"}
        )
        lines = self._send("add", data, options).splitlines()
        hashes = [named["Hash"] for line in lines if "Hash" in (named := self._object(line))]
        if not hashes:
            raise InvalidAnswer(f"{self.name} did not report the CID of what was added")
        self._compare(cid, hashes[-1])
        return cid

    def put_block(self, cid: Cid, block: bytes) -> None:
        """Add one block to the daemon."""
        options: dict[str, str | int] = {
            "cid-codec": CODECS[cid.codec],
            "mhtype": "sha2-256",
            "pin": "false",
        }
        stored = self._object(self._send("block/put", block, options))
        self._compare(str(cid), stored.get("Key"))

    def pin(self, cid: str) -> None:
        """Let the daemon keep the content with all its blocks, and provide it to others."""
        name = str(parse_cid(cid))
        pinned = self._object(self._pin_request("pin/add", name, recursive="true")).get("Pins")
        pins = cast("list[object]", pinned) if isinstance(pinned, list) else []
        if not any(self._is_same(name, one) for one in pins):
            raise PinRefused(f"{self.name} did not confirm that it pinned {name}")

    def unpin(self, cid: str) -> None:
        """Let the daemon remove the content when it needs the space."""
        self._pin_request("pin/rm", str(parse_cid(cid)), recursive="true")

    def is_pinned(self, cid: str) -> bool:
        """Whether the daemon keeps the content with all its blocks."""
        name = str(parse_cid(cid))
        try:
            answer = self._request("pin/ls", {"arg": name, "type": "recursive"})
        except _Complaint as complaint:
            if "not pinned" in str(complaint):
                return False
            raise SourceFailed(f"{self.name} reports: {complaint}") from None
        keys = self._object(answer).get("Keys")
        return isinstance(keys, dict) and any(
            self._is_same(name, one) for one in cast("dict[str, object]", keys)
        )

    def request_block(self, session: Session, cid: Cid) -> bytes:
        """The bytes that the daemon sends for a block, not verified yet."""
        # A little less than we wait: the daemon then says itself that it has not found it.
        milliseconds = max(1, int(900 * session.seconds_left))
        params: dict[str, str | int] = {"arg": str(cid), "timeout": f"{milliseconds}ms"}
        try:
            return self._post(session, "block/get", params, max_bytes=MAX_BLOCK_BYTES)
        except _Complaint as complaint:
            if any(words in str(complaint) for words in NOT_FOUND):
                raise ContentPending(f"{self.name} does not have {cid}") from None
            raise SourceFailed(f"{self.name} reports: {complaint}") from None

    def _send(self, command: str, data: bytes, params: dict[str, str | int]) -> bytes:
        # With a content type: without one, daemons do not take the part for a file.
        part = {"file": ("content", data, BINARY)}
        try:
            return self._request(command, params, files=part)
        except _Complaint as complaint:
            raise SourceFailed(f"{self.name} did not store the content: {complaint}") from None

    def _pin_request(self, command: str, name: str, **options: str) -> bytes:
        try:
            return self._request(command, {"arg": name, **options})
        except _Complaint as complaint:
            raise PinRefused(f"{self.name} refused {command} of {name}: {complaint}") from None

    def _request(self, command: str, params: dict[str, str | int], **options: Any) -> bytes:
        with self.session(self.timeout_seconds) as session:
            return self._post(session, command, params, max_bytes=MAX_ANSWER_BYTES, **options)

    def _post(
        self,
        session: Session,
        command: str,
        params: dict[str, str | int],
        *,
        max_bytes: int,
        **options: Any,
    ) -> bytes:
        """The body of a successful answer; `_Complaint` if the daemon reports an error."""
        url = f"{self._url}/api/v0/{command}"
        with session.request("POST", url, params=params, **options) as response:
            status = response.status_code
            if status in (401, 403):
                raise SourceRefused(f"{self.name} does not allow {command} (HTTP {status})")
            if response.has_redirect_location:
                raise RedirectRefused(f"{self.name} redirects, which no daemon does")
            if response.headers.get("content-type", "").startswith("text/html"):
                raise InvalidAnswer(f"{self.name} answered with a web page: is it a Kubo daemon?")
            body = session.read(response, max_bytes if status == 200 else MAX_ANSWER_BYTES)
        if status == 200:
            return body
        if status in (404, 405):
            raise InvalidAnswer(f"{self.name} has no {command}: is it the address of its RPC?")
        if status != 500:
            raise SourceFailed(f"{self.name} answered {command} with HTTP {status}")
        raise _Complaint(repr(str(self._object(body).get("Message"))[:MAX_EXCERPT]))

    def _object(self, body: bytes) -> dict[str, Any]:
        try:
            value = json.loads(body)
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            raise InvalidAnswer(f"{self.name} did not answer with JSON: is it a Kubo daemon?")
        return cast("dict[str, Any]", value)

    def _is_same(self, cid: str, reported: object) -> bool:
        try:
            return parse_cid(str(reported)).key == parse_cid(cid).key
        except InvalidInput:
            return False

    def _compare(self, cid: str, reported: object) -> None:
        if not self._is_same(cid, reported):
            shown = str(reported)[:MAX_EXCERPT]
            raise OtherCid(f"{self.name} stored the content as {shown!r} instead of {cid}")


def publish(source: ContentSource, kubo: KuboStore, cid: str) -> None:
    """Add the content to the daemon, and pin it there."""
    root = parse_cid(cid)
    data = source.get(cid)
    profile = profile_of(data, root)
    if profile is not None:
        kubo.put(data, profile=profile)
    else:
        # Split into blocks in a way that is not ours: only the blocks themselves have this CID.
        for one, block in source.blocks(cid):
            kubo.put_block(one, block)
    kubo.pin(cid)
