"""A scripted model endpoint for judges on loopback, and its replies."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from arena.evaluation.standard import JudgePrompt
from http_server import Request, Server

STANDARD = JudgePrompt(
    prompt="Is the code good?",
    criteria=("correctness", "efficiency", "readability"),
    weights=(50, 30, 20),
)
WORK = "def add(a, b):\n    return a + b\n"
MODEL = "gpt-4o-mini"

Reply = Callable[[Request, asyncio.StreamWriter], Awaitable[None]]


def said(**changes: object) -> dict[str, object]:
    """A model's answer for one criterion."""
    return {"quote": "return a + b", "reason": "It adds.", "score": 70} | changes


def vote(*scores: object, **changes: object) -> dict[str, object]:
    """A whole answer, as a model gives it."""
    return {f"c{n}": said(score=score, **changes) for n, score in enumerate(scores, start=1)}


def completion(content: object, **changes: Any) -> dict[str, object]:
    """A completion with that content (JSON unless it is text)."""
    text = content if isinstance(content, str) else json.dumps(content)
    choice = {"index": 0, "finish_reason": "stop", "message": {"content": text}}
    choice["message"] |= changes.pop("message", {})
    choice |= changes.pop("choice", {})
    return {
        "model": MODEL,
        "choices": [choice],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 100},
    } | changes


class Endpoint(Server):
    """Answers with each reply of its script in turn, and then always with the last."""

    def __init__(self) -> None:
        super().__init__()
        self._script: list[object] = []
        self.do(self._follow)

    def follow(self, *script: object) -> None:
        """A reply: a completion, its content, `(status, headers)`, bytes, or a function."""
        self._script = list(script)

    @property
    def chats(self) -> list[Any]:
        """The bodies of all requests."""
        return [request.json for request in self.requests]

    async def _follow(self, request: Request, writer: asyncio.StreamWriter) -> None:
        step = self._script.pop(0) if len(self._script) > 1 else self._script[0]
        if callable(step):
            step = await step(request, writer)
            if step is None:
                return
        status, headers = 200, {}
        if isinstance(step, tuple):
            status, headers = step
            step = {"error": {"message": "because"}}
        elif not (isinstance(step, dict) and "choices" in step) and not isinstance(step, bytes):
            step = completion(step)
        body = step if isinstance(step, bytes) else json.dumps(step).encode()
        lines = [f"HTTP/1.1 {status} Because", f"Content-Length: {len(body)}", "Connection: close"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
        await writer.drain()
