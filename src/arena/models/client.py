"""One client for every endpoint that speaks the OpenAI chat format.

It speaks that format itself: the vendor's library costs twice the processor time for each call
(3 ms against 1.5, `make bench-judge`), fills in keys and organisations from variables of its own
for any address, and hands on whatever a merely compatible server sends without checking it.
"""

import asyncio
import json
from collections.abc import Mapping

import httpx2

from arena.models.capped import TooLong, refuse_compressed
from arena.models.completion import Completion, read_completion
from arena.models.faults import BodyTooLong, ModelTimedOut, Refused, Unreachable
from arena.models.lines import Lines

MAX_BODY_BYTES = 8 * 1024 * 1024
"""A text may be 1 MiB; JSON spells some characters with six bytes, and there is more beside it."""
REDACTED = "[redacted]"
MIN_SECRET_LENGTH = 8
"""What servers without a key are told (`none`, `EMPTY`) is none, and may well stand in a text."""


class ModelClient:
    """Sends chats to one endpoint. It belongs to one event loop, and to whoever closes it."""

    def __init__(self, base_url: str, *, api_key: str | None, max_connections: int) -> None:
        self.base_url = base_url.rstrip("/")
        self._key = (api_key or "").strip()
        self._is_secret = len(self._key) >= MIN_SECRET_LENGTH
        headers = {"authorization": f"Bearer {self._key}"} if self._key else {}
        self._lines = Lines(headers, max_connections=max_connections)

    async def complete(self, chat: Mapping[str, object], *, timeout_seconds: float) -> Completion:
        """Ask once, with the body `chat`; raises a `ModelFault`. Nobody is asked a second time."""
        content = json.dumps(chat).encode()
        try:
            async with asyncio.timeout(timeout_seconds):
                body = await self._post(content)
        except TimeoutError:
            raise ModelTimedOut(f"no answer within {timeout_seconds:g} s") from None
        except TooLong:
            raise BodyTooLong("it is far longer than 1 MiB, or compressed") from None
        except httpx2.TransportError as error:
            raise self._unreachable(error) from None
        return read_completion(body, model=str(chat["model"]))

    async def close(self) -> None:
        """Close all connections."""
        await self._lines.close()

    async def _post(self, content: bytes) -> bytes:
        url = f"{self.base_url}/chat/completions"
        async with self._lines.post(url, content) as response:
            refuse_compressed(response.headers)
            body = bytearray()
            async for chunk in response.aiter_raw():
                body += chunk
                if len(body) > MAX_BODY_BYTES:
                    raise TooLong
        if not response.is_success:
            raise Refused(
                response.status_code,
                excerpt=self._redacted(body),
                retry_after=response.headers.get("retry-after"),
            )
        return self._redacted(body).encode() if self._is_secret else bytes(body)

    def _redacted(self, body: bytearray) -> str:
        """The body without the key, which a server may well repeat."""
        text = body.decode(errors="replace")
        return text.replace(self._key, REDACTED) if self._is_secret else text

    def _unreachable(self, error: httpx2.TransportError) -> Unreachable:
        if isinstance(error, httpx2.LocalProtocolError):
            # Its message quotes headers, and with them the key.
            return Unreachable("the request is not valid HTTP; check the key", is_lasting=True)
        reason = str(error) or type(error).__name__
        return Unreachable(reason, is_lasting="CERTIFICATE_VERIFY_FAILED" in reason)
