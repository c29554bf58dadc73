import pytest

from arena.agents.connector import AgentBusy, Answer, Question
from arena.agents.secrets import Redacted, Secrets
from arena.errors import AgentCrashed, AgentUnavailable
from arena.models.usage import Usage

QUESTION = Question(id="q", prompt="p", timeout_seconds=1)


class Says:
    """A connector that answers with a text or raises an error."""

    def __init__(self, what: str | Exception, *, truncated: bool = False) -> None:
        self.what, self.truncated = what, truncated

    async def answer(self, question: Question) -> Answer:
        if isinstance(self.what, Exception):
            raise self.what from ValueError("the cause quotes hunter22")
        return Answer(output=self.what, usage=Usage(model="m"), truncated=self.truncated)

    async def close(self) -> None:
        pass


def test_references_are_filled_in():
    secrets = Secrets({"A": "alpha", "B_2": "beta"})
    assert secrets.fill("Bearer ${A}/${B_2} $A {A}") == "Bearer alpha/beta $A {A}"


@pytest.mark.parametrize("environ", [{}, {"KEY": ""}])
def test_a_variable_that_is_not_set_is_named(environ):
    with pytest.raises(
        AgentUnavailable, match="KEY is not set; set it before starting Arena"
    ) as caught:
        Secrets(environ).value("KEY")
    assert not caught.value.retryable


def test_only_given_values_are_redacted():
    secrets = Secrets({"A": "hunter22", "B": "not-given"})
    assert secrets.redact("hunter22") == "hunter22"
    secrets.value("A")
    assert secrets.redact("hunter22 not-given") == "[redacted] not-given"


def test_the_longest_secret_goes_first():
    secrets = Secrets({"A": "abcd", "B": "abcdefgh"})
    secrets.value("A")
    secrets.value("B")
    assert secrets.redact("abcdefgh abcd") == "[redacted] [redacted]"


def test_characters_with_a_meaning_in_patterns_are_plain_here():
    secrets = Secrets({"A": "a.c*(["})
    secrets.value("A")
    assert secrets.redact("a.c*([ abc") == "[redacted] abc"


def test_the_space_around_a_secret_does_not_hide_it():
    secrets = Secrets({"A": " hunter22\n"})
    secrets.value("A")
    assert secrets.redact("is hunter22") == "is [redacted]"


def test_very_short_values_are_left_alone():
    secrets = Secrets({"A": "1"})
    secrets.value("A")
    assert secrets.redact("1 + 1") == "1 + 1"


def redacted(what: str | Exception, *, truncated: bool = False) -> Redacted:
    secrets = Secrets({"A": "hunter22"})
    secrets.value("A")
    return Redacted(Says(what, truncated=truncated), secrets)


async def test_an_answer_keeps_all_but_the_secret():
    answer = await redacted("it is hunter22").answer(QUESTION)
    assert answer == Answer(output="it is [redacted]", usage=Usage(model="m"))


async def test_half_a_secret_at_the_end_of_a_cut_answer_goes_too():
    answer = await redacted("it is hunte", truncated=True).answer(QUESTION)
    assert answer.output == "it is [redacted]"
    answer = await redacted("it is hunte").answer(QUESTION)
    assert answer.output == "it is hunte"


async def test_an_error_keeps_its_type_and_loses_the_secret_and_its_cause():
    with pytest.raises(AgentCrashed) as caught:
        await redacted(AgentCrashed("key hunter22")).answer(QUESTION)
    assert str(caught.value) == caught.value.message == "key [redacted]"
    assert caught.value.__cause__ is None
    with pytest.raises(AgentBusy) as busy:
        await redacted(AgentBusy("hunter22", retry_after_seconds=3)).answer(QUESTION)
    assert busy.value.retry_after_seconds == 3
    assert busy.value.retryable
