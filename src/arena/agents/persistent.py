"""The persistent command: an agent that is a long-lived program, a JSON line per question."""

import json

from arena.agents.answers import answer_from_bytes, has_output
from arena.agents.connector import MAX_OUTPUT_BYTES, Answer, Question
from arena.agents.lines import LinePool
from arena.agents.process import Program
from arena.errors import AgentCrashed


def question_line(question: Question) -> bytes:
    """What a program gets on stdin: one JSON object in one line."""
    value = {
        "id": question.id,
        "prompt": question.prompt,
        "timeout_seconds": question.timeout_seconds,
    }
    return json.dumps(value).encode() + b"\n"


class PersistentCommand:
    """Keeps the program running; starts it anew when it died or lost step."""

    def __init__(self, program: Program) -> None:
        self._pool = LinePool(program, max_line_bytes=MAX_OUTPUT_BYTES)

    async def answer(self, question: Question) -> Answer:
        """Ask a free process of the pool, or a new one."""
        line, is_cut = await self._pool.ask(question_line(question), question.timeout_seconds)
        answered = _answered_id(line)
        if answered is not None and answered != question.id:
            self._pool.forget_idle()  # one of them is a line behind, and so are its next answers
            raise AgentCrashed(f"the agent answered question {answered!r}, not {question.id!r}")
        return answer_from_bytes(line, truncated=is_cut)

    async def close(self) -> None:
        """End all processes."""
        await self._pool.close()


def _answered_id(line: bytes) -> str | None:
    """The id an agent chose to repeat in its answer: {"id": ..., "output": ...}."""
    if b'"id"' not in line:
        return None
    try:
        value: object = json.loads(line)
    except (ValueError, RecursionError):
        return None
    answered = value.get("id") if has_output(value) else None
    return answered if isinstance(answered, str) else None
