"""The spans of the questions that are being answered."""

import asyncio
import contextlib
import hashlib
import hmac
import secrets
import time
from collections.abc import Generator, Iterable
from dataclasses import dataclass, field

from arena.models.step import Step
from arena.models.usage import Usage
from arena.traces.span import Span
from arena.traces.steps import is_call, steps_of, usage_of
from arena.traces.target import TraceTarget

MAX_SPANS = 5_000
"""Of a question; the first to arrive are kept."""
MAX_SPAN_BYTES = 8 * 1024 * 1024
"""Of what is kept of all spans of a question."""
MAX_REQUESTS = 1_000
"""Of a question; of a long-lived process, since its agent's last question."""
QUIET_SECONDS = 0.05
"""How long nothing must arrive after the answer and its root span for a trace to be complete."""
ROOT_NANOSECONDS = 200_000_000
"""How long before the answer a root span may have ended. The agent went on after an earlier one,
and may do so in other root spans."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """What the spans of a question say."""

    steps: tuple[Step, ...] = ()
    usage: Usage = field(default_factory=Usage)
    problem: str | None = None
    """Why the steps may not be all that the agent did."""


class Inbox:
    """The spans of one question; `target` is where they are sent to."""

    def __init__(self, target: TraceTarget, session: "Session") -> None:
        self.target = target
        self.requests = 0
        self.refused = 0
        """Spans beyond the limits."""
        self.foreign = 0
        """Spans of other traces that came with this question's token."""
        self.problem: str | None = None
        """Why a request was refused."""
        self._session = session
        self._foreign_before = session.foreign
        self._spans: dict[bytes, Span] = {}
        self._size = 0
        self._root = bytes.fromhex(target.span_id)
        self._root_end = 0
        """When the last root span ended, in nanoseconds, at least 1; 0: none has arrived."""
        self._receiving = 0
        self._last_seconds = 0.0
        self._changed = asyncio.Event()

    def __enter__(self) -> "Inbox":
        return self

    def __exit__(self, *_: object) -> None:
        self._session.forget(self)

    def inbox(self, trace_id: str) -> "Inbox | None":
        """Where a span of this trace goes that came with the token of this question."""
        return self if trace_id == self.target.trace_id else None

    def count_request(self) -> bool:
        """Count a request; False if it is one too many."""
        self.requests += 1
        return self.requests <= MAX_REQUESTS

    def note(self, problem: str) -> None:
        """Keep why spans were lost."""
        self.problem = problem

    @contextlib.contextmanager
    def receiving(self) -> Generator[None]:
        """While a request arrives, the trace is not complete."""
        self._receiving += 1
        try:
            yield
        finally:
            self._receiving -= 1
            self._touch()

    def add(self, span: Span) -> bool:
        """Keep a span; False if it is beyond the limits."""
        if span.id in self._spans:
            return True  # sent again, because our answer was late
        if len(self._spans) >= MAX_SPANS or self._size + span.size > MAX_SPAN_BYTES:
            self.refused += 1
            return False
        self._spans[span.id] = span
        self._size += span.size
        if span.parent_id == self._root and not is_call(span):
            self._root_end = max(self._root_end, span.end_nanoseconds, 1)
        self._touch()
        return True

    async def trace(self, wait_seconds: float, *, has_ended: bool = False) -> Trace:
        """What the spans say, after waiting for late ones.

        The wait ends early when the root span has arrived, which ends last, and then nothing more.
        If the agent's process `has_ended`, any root span will do: it has sent what it had to send.
        """
        clock = asyncio.get_running_loop().time
        answered = 0.0 if has_ended else clock()
        # Spans have the time of this machine: the port is open on loopback only.
        earliest_end = 1 if has_ended else time.time_ns() - ROOT_NANOSECONDS
        deadline = clock() + wait_seconds
        while True:
            self._changed.clear()
            until = deadline
            if self._root_end >= earliest_end and not self._receiving:
                until = min(deadline, max(self._last_seconds, answered) + QUIET_SECONDS)
            if clock() >= until:
                break
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout_at(until):
                    await self._changed.wait()
        spans = list(self._spans.values())
        if not spans:
            nothing = f"no spans arrived within {wait_seconds:g} s of the answer (docs/traces.md)"
            return Trace(problem=self._problem() or nothing)
        # In a thread: the arguments and results are up to megabytes of JSON.
        steps, usage = await asyncio.to_thread(lambda: (steps_of(spans), usage_of(spans)))
        return Trace(steps=steps, usage=usage, problem=self._problem())

    def _touch(self) -> None:
        self._last_seconds = asyncio.get_running_loop().time()
        self._changed.set()

    def _problem(self) -> str | None:
        if self.problem:
            return self.problem
        if self.refused:
            size = MAX_SPAN_BYTES // 1024**2
            return f"spans were refused ({self.refused:,}): at most {MAX_SPANS:,}, or {size} MiB"
        foreign = self.foreign or self._session.foreign - self._foreign_before
        if foreign and not self._spans:
            return (
                f"spans had another trace id ({foreign:,}): the agent must continue the trace of"
                " TRACEPARENT (docs/traces.md)"
            )
        return None


class Session:
    """The questions to one agent, which may share a long-lived process and its exporter."""

    def __init__(self, endpoint: str, token: str, mailbox: "Mailbox") -> None:
        self.token = token
        self.foreign = 0
        """Spans of no open question that came with this token."""
        self._endpoint = endpoint
        self._mailbox = mailbox
        self._inboxes: dict[str, Inbox] = {}
        self._requests = 0
        mailbox.admit(self.token, self)

    def open(self) -> Inbox:
        """An inbox for a new question; the caller enters and leaves it."""
        inbox = Inbox(new_target(self._endpoint, self.token), self)
        self._inboxes[inbox.target.trace_id] = inbox
        self._mailbox.admit(inbox.target.token, inbox)
        self._requests = 0
        return inbox

    def forget(self, inbox: Inbox) -> None:
        """The question has ended: its token and its spans are refused from now on."""
        self._inboxes.pop(inbox.target.trace_id, None)
        self._mailbox.dismiss(inbox.target.token)

    def close(self) -> None:
        """Refuse everything from now on."""
        for inbox in list(self._inboxes.values()):
            self.forget(inbox)
        self._mailbox.dismiss(self.token)

    def inbox(self, trace_id: str) -> Inbox | None:
        """Where a span of this trace goes that came with the token of this session."""
        return self._inboxes.get(trace_id)

    def count_request(self) -> bool:
        """Count a request; False if it is one too many."""
        self._requests += 1
        return self._requests <= MAX_REQUESTS

    def note(self, problem: str) -> None:
        """Keep why spans were lost, which may have been of any of the questions."""
        for inbox in self._inboxes.values():
            inbox.note(problem)

    @contextlib.contextmanager
    def receiving(self) -> Generator[None]:
        """While a request arrives, which may have spans of any of the questions."""
        with contextlib.ExitStack() as stack:
            for inbox in self._inboxes.values():
                stack.enter_context(inbox.receiving())
            yield


Grant = Inbox | Session
"""What a token gives access to."""


class Mailbox:
    """What each valid token gives access to."""

    def __init__(self) -> None:
        self._grants: dict[bytes, Grant] = {}

    def admit(self, token: str, grant: Grant) -> None:
        """Accept a token from now on."""
        self._grants[_digest(token)] = grant

    def dismiss(self, token: str) -> None:
        """Refuse a token from now on."""
        self._grants.pop(_digest(token), None)

    def grant(self, token: str) -> Grant | None:
        """What a token gives access to; None if it is not valid."""
        digest, found = _digest(token), None
        # Compared with all of them, so that the time taken says nothing about a token.
        for known, grant in self._grants.items():
            if hmac.compare_digest(known, digest):
                found = grant
        return found


def deliver(grant: Grant, spans: Iterable[tuple[str, Span]]) -> tuple[int, str]:
    """Put spans into the inboxes of their questions; how many were refused, and why."""
    refused, reason = 0, ""
    for trace_id, span in spans:
        inbox = grant.inbox(trace_id)
        if inbox is None:
            grant.foreign += 1
            refused, reason = refused + 1, "the token is not for this trace id"
        elif not inbox.add(span):
            refused, reason = refused + 1, "the question has too many spans"
    return refused, reason


def new_target(endpoint: str, session_token: str) -> TraceTarget:
    """A target with a new trace id and token."""
    return TraceTarget(
        trace_id=_new_id(16),
        span_id=_new_id(8),
        endpoint=endpoint,
        token=new_token(),
        session_token=session_token,
    )


def new_token() -> str:
    """A token that nobody can guess."""
    return secrets.token_urlsafe(32)


def _new_id(size: int) -> str:
    """Random hexadecimal digits; never all zero, which W3C defines as invalid."""
    while not int(digits := secrets.token_hex(size), 16):
        pass
    return digits


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode(errors="replace")).digest()
