"""One client for every endpoint that speaks the OpenAI chat format.

It speaks that format itself: the vendor's library costs twice the processor time for each call
(3 ms against 1.5, `make bench-judge`), fills in keys and organisations from variables of its own
for any address, and hands on whatever a merely compatible server sends without checking it.
httpx2 and not httpx: with a hundred connections open the older one takes 20 ms for each call.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager

import httpx2

from arena.models.capped import TooLong, refuse_compressed
from arena.models.completion import Completion, read_completion
from arena.models.faults import BodyTooLong, ModelTimedOut, Refused, Unreachable

CONNECT_SECONDS = 10.0
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
        self._slots = asyncio.Semaphore(max_connections)
        self._certificates = httpx2.create_ssl_context()
        self._idle: list[httpx2.AsyncClient] = []
        self._made: list[httpx2.AsyncClient] = []

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
        for line in self._made:
            await line.aclose()

    @asynccontextmanager
    async def _line(self) -> AsyncGenerator[httpx2.AsyncClient]:
        """A client of one connection, the one used last before others: its connection is warm.

        One client with many connections looks at every one of them for each request, which at a
        hundred takes half of the processor time.
        """
        async with self._slots:
            line = self._idle.pop() if self._idle else self._new_line()
            try:
                yield line
            finally:
                self._idle.append(line)

    def _new_line(self) -> httpx2.AsyncClient:
        line = httpx2.AsyncClient(
            headers={
                "user-agent": "agent-arena",
                "content-type": "application/json",
                # Not compressed: a few bytes could unfold to more than the memory holds.
                "accept-encoding": "identity",
                **({"authorization": f"Bearer {self._key}"} if self._key else {}),
            },
            follow_redirects=False,  # the key is for this address only
            limits=httpx2.Limits(max_connections=1),
            verify=self._certificates,
            # The caller's own time-out covers the rest.
            timeout=httpx2.Timeout(None, connect=CONNECT_SECONDS),
        )
        self._made.append(line)
        return line

    async def _post(self, content: bytes) -> bytes:
        url = f"{self.base_url}/chat/completions"
        async with self._line() as line, line.stream("POST", url, content=content) as response:
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
