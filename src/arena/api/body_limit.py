"""Limits the size of request bodies."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from arena.api.problems import problem

MAX_BODY_BYTES = 8 * 1024 * 1024


class BodyLimit:
    """Refuses a body that is too large, before it has been read into memory."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, unless its declared or actual body is too large."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        declared = dict(scope["headers"]).get(b"content-length", b"0")
        if declared.isdigit() and int(declared) > MAX_BODY_BYTES:
            await _refuse(scope, receive, send)
            return
        # A body without a length (chunked) is only known to be too large while it is read.
        body = await _read(receive)
        if body is None:
            await _refuse(scope, receive, send)
            return
        messages = iter(body)

        async def replay() -> Message:
            # After the body come other messages, such as a disconnect.
            return next(messages, None) or await receive()

        await self._app(scope, replay, send)


async def _read(receive: Receive) -> list[Message] | None:
    """The messages of the body; None if it is too large."""
    messages: list[Message] = []
    size = 0
    while True:
        message = await receive()
        messages.append(message)
        size += len(message.get("body", b""))
        if size > MAX_BODY_BYTES:
            return None
        if message["type"] != "http.request" or not message.get("more_body"):
            return messages


async def _refuse(scope: Scope, receive: Receive, send: Send) -> None:
    detail = f"the body is larger than {MAX_BODY_BYTES // 1024**2} MiB"
    await problem(413, "body_too_large", detail)(scope, receive, send)
