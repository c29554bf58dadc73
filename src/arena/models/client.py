"""One client for every endpoint that speaks the OpenAI chat format.

It implements the format itself: the vendor's library needs twice the CPU time per call (3 ms
against 1.5, `make bench-judge`), reads keys and organisations from its own environment variables
for any address, and returns the response of a merely compatible server without checking it.
"""

import asyncio
import json
from collections.abc import Mapping

import httpx2

from arena.models.budget import check
from arena.models.completion import (
    BodyTooLong,
    Completion,
    ModelTimedOut,
    Refused,
    Unreachable,
    read_completion,
)
from arena.models.connections import ConnectionPool, TooLong, refuse_compressed
from arena.text import REDACTED

MAX_BODY_BYTES = 8 * 1024 * 1024
"""A text may have 1 MiB, JSON escapes take six bytes a character, and there are other fields."""
MIN_SECRET_LENGTH = 8
"""Not shorter: placeholder keys for servers that need none (`none`, `EMPTY`) occur in texts."""


class ModelClient:
    """Sends chats to one endpoint. It belongs to one event loop, and its owner closes it."""

    def __init__(
        self,
        base_url: str,
        *,
        api_key: str | None,
        headers: Mapping[str, str] | None = None,
        max_connections: int,
    ) -> None:
        self.base_url = base_url.rstrip("/")
        self._key = (api_key or "").strip()
        self._is_secret = len(self._key) >= MIN_SECRET_LENGTH
        own = {"authorization": f"Bearer {self._key}"} if self._key else {}
        sent = {**(headers or {}), **own}
        self._connections = ConnectionPool(sent, max_connections=max_connections)

    async def complete(self, chat: Mapping[str, object], *, timeout_seconds: float) -> Completion:
        """Send the body `chat` once, without retries; raises a `ModelFault`.

        `BudgetExceeded` if the current run has spent its budget: then nothing is sent.
        """
        check()
        content = json.dumps(chat).encode()
        try:
            async with asyncio.timeout(timeout_seconds):
                body = await self._post(content)
        except TimeoutError:
            raise ModelTimedOut(f"no answer within {timeout_seconds:g} s") from None
        except TooLong:
            raise BodyTooLong("it is far longer than 1 MiB, or compressed") from None
        except httpx2.LocalProtocolError:
            # Its message quotes headers, and with them the key.
            message = "the request is not valid HTTP; check the key"
            raise Unreachable(message, is_permanent=True) from None
        except httpx2.TransportError as error:
            reason = str(error) or type(error).__name__
            is_permanent = "CERTIFICATE_VERIFY_FAILED" in reason
            raise Unreachable(reason, is_permanent=is_permanent) from None
        return read_completion(body, model=str(chat["model"]))

    async def close(self) -> None:
        """Close all connections."""
        await self._connections.close()

    async def _post(self, content: bytes) -> bytes:
        url = f"{self.base_url}/chat/completions"
        async with self._connections.post(url, content) as response:
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
        """The body without the key, which a server may echo."""
        text = body.decode(errors="replace")
        return text.replace(self._key, REDACTED) if self._is_secret else text
