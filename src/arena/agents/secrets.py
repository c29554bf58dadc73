"""Secrets of agents: taken from environment variables, and kept out of all that is written down."""

import os
import re
from collections.abc import Mapping

from arena.agents.connector import Answer, Connector, Question
from arena.agents.spec_rules import REFERENCE
from arena.errors import AgentUnavailable, ArenaError

REDACTED = "[redacted]"
MIN_SECRET_LENGTH = 4
"""Shorter values are not redacted: a secret "1" would tear holes into every answer."""


class Secrets:
    """The variables one agent may see, and a memory of those it was given."""

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        # The one place of this room that reads the environment, when an agent is connected.
        self.environ: Mapping[str, str] = os.environ if environ is None else environ
        self._given: set[str] = set()
        self._pattern: re.Pattern[str] | None = None

    def value(self, name: str) -> str:
        """The value of the variable `name`, which from now on is redacted."""
        value = self.environ.get(name)
        if not value:
            raise AgentUnavailable(
                f"the environment variable {name} is not set; set it where Arena is started",
                retryable=False,
            )
        if len(value) >= MIN_SECRET_LENGTH:
            # A header is sent without the white space around it, and so it may come back.
            self._given |= {value, value.strip()} - {""}
            longest_first = sorted(self._given, key=len, reverse=True)
            self._pattern = re.compile("|".join(map(re.escape, longest_first)))
        return value

    def fill(self, text: str) -> str:
        """`text` with the value of NAME in place of each `${NAME}`."""
        return REFERENCE.sub(lambda match: self.value(match[1]), text)

    def redact(self, text: str, *, is_cut: bool = False) -> str:
        """`text` without any secret; `is_cut` says that its end may be half of one."""
        if self._pattern is None:
            return text
        text = self._pattern.sub(REDACTED, text)
        return self._without_half_a_secret(text) if is_cut else text

    def _without_half_a_secret(self, text: str) -> str:
        for secret in self._given:
            for length in range(min(len(secret) - 1, len(text)), MIN_SECRET_LENGTH - 1, -1):
                if text.endswith(secret[:length]):
                    return text[:-length] + REDACTED
        return text


class Redacted:
    """A connector whose answers and errors hold no secret."""

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
            # What caused it may quote a secret, and a log would print it below the error.
            error.__cause__ = error.__context__ = None
            raise
        output = self._secrets.redact(answer.output, is_cut=answer.truncated)
        return Answer(output=output, usage=answer.usage, truncated=answer.truncated)

    async def close(self) -> None:
        """Close the connector."""
        await self._connector.close()
