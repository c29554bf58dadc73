"""Secrets of agents: read from environment variables, redacted in answers, errors and logs."""

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from arena.agents.connector import Answer, Connector, Question
from arena.agents.spec import REFERENCE
from arena.errors import AgentUnavailable, ArenaError
from arena.models.step import BadSteps, calls_text, with_text
from arena.text import REDACTED

MIN_SECRET_LENGTH = 4
"""Shorter values are not redacted: a secret "1" would garble every answer."""

KEPT = ("PATH", "HOME", "LANG", "TMPDIR", "TZ")
KEPT_PREFIX = "LC_"
# So that Python programs use UTF-8 and do not buffer an answer; others ignore these.
_SET = {"PYTHONUTF8": "1", "PYTHONUNBUFFERED": "1"}


class Secrets:
    """The environment variables of one agent; remembers the values that were used."""

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        # The only place in this room that reads the environment, and only on connecting.
        self.environ: Mapping[str, str] = os.environ if environ is None else environ
        self._used: set[str] = set()
        self._pattern: re.Pattern[str] | None = None

    def value(self, name: str) -> str:
        """The value of the variable `name`, which is redacted from now on."""
        value = self.environ.get(name)
        if not value:
            raise AgentUnavailable(
                f"the environment variable {name} is not set; set it before starting Arena",
                retryable=False,
            )
        if len(value) >= MIN_SECRET_LENGTH:
            # A header is sent stripped, so it may be echoed without the white space.
            self._used |= {value, value.strip()} - {""}
            longest_first = sorted(self._used, key=len, reverse=True)
            self._pattern = re.compile("|".join(map(re.escape, longest_first)))
        return value

    def fill(self, text: str) -> str:
        """`text` with each `${NAME}` replaced by the value of NAME."""
        return REFERENCE.sub(lambda match: self.value(match[1]), text)

    def redact(self, text: str, *, is_cut: bool = False) -> str:
        """`text` without any secret; with `is_cut`, its end may be half of one."""
        if self._pattern is None:
            return text
        text = self._pattern.sub(REDACTED, text)
        return self._without_half_a_secret(text) if is_cut else text

    def redact_bytes(self, content: bytes) -> bytes:
        """The content of a file without any secret."""
        for secret in sorted(self._used, key=len, reverse=True):
            content = content.replace(secret.encode(errors="surrogateescape"), REDACTED.encode())
        return content

    def _without_half_a_secret(self, text: str) -> str:
        for secret in self._used:
            for length in range(min(len(secret) - 1, len(text)), MIN_SECRET_LENGTH - 1, -1):
                if text.endswith(secret[:length]):
                    return text[:-length] + REDACTED
        return text


class Redacted:
    """A connector whose answers and errors contain no secret."""

    def __init__(self, connector: Connector, secrets: Secrets) -> None:
        self._connector = connector
        self._secrets = secrets

    async def answer(self, question: Question) -> Answer:
        """The answer of the connector, redacted."""
        try:
            answer = await self._connector.answer(question)
        except ArenaError as error:
            error.message = self._secrets.redact(error.message)
            error.args = (error.message,)
            # The cause may quote a secret, and a log would print it below the error.
            error.__cause__ = error.__context__ = None
            raise
        output = self._secrets.redact(answer.output, is_cut=answer.truncated)
        if answer.steps:
            return self._with_steps(answer, output)
        return answer if output is answer.output else replace(answer, output=output)

    def without_secrets(self, content: bytes) -> bytes:
        """The content of a file without any secret."""
        return self._secrets.redact_bytes(content)

    def _with_steps(self, answer: Answer, output: str) -> Answer:
        try:
            steps = tuple(with_text(step, self._secrets.redact) for step in answer.steps)
        except BadSteps as error:
            return replace(answer, output=output, steps=(), steps_problem=str(error))
        if steps != answer.steps and answer.output == calls_text(answer.steps):
            output = calls_text(steps)  # in JSON a secret may be written in another way
        return replace(answer, output=output, steps=steps)

    async def close(self) -> None:
        """Close the connector."""
        await self._connector.close()


def program_environment(names: Iterable[str], secrets: Secrets) -> dict[str, str]:
    """The environment of an agent's program: a few kept variables and the secrets `names`."""
    kept = {
        name: value
        for name, value in secrets.environ.items()
        if name in KEPT or name.startswith(KEPT_PREFIX)
    }
    return kept | _SET | {name: secrets.value(name) for name in names}
