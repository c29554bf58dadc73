"""An agent of the lab: a prompt in, words out."""

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from functools import lru_cache

from arena.lab.answers.analysis import (
    analyse_gaps,
    list_requirements,
    list_uncovered,
    sum_up_coverage,
)
from arena.lab.answers.machines import check_health, report_devices, report_hosts
from arena.lab.answers.results import report_results
from arena.lab.answers.testcases import execute_testcase, list_testcases, load_testcase
from arena.lab.answers.userinterfaces import (
    describe_tree,
    list_userinterfaces,
    navigate,
    position,
)
from arena.lab.desk import Answer, CannotAnswer, Desk
from arena.lab.intents import Intent, recognise
from arena.lab.lab import Lab
from arena.lab.names import Names
from arena.lab.records import Platform
from arena.lab.request import Request, understand
from arena.lab.roles import SPECIALISTS, Role
from arena.lab.words import words_of

ANSWERS: dict[Intent, Callable[[Desk, Request], Answer]] = {
    Intent.LIST_USERINTERFACES: list_userinterfaces,
    Intent.NAVIGATE: navigate,
    Intent.DESCRIBE_TREE: describe_tree,
    Intent.DEVICE_STATUS: report_devices,
    Intent.HEALTH_CHECK: check_health,
    Intent.LIST_HOSTS: report_hosts,
    Intent.LIST_TESTCASES: list_testcases,
    Intent.LOAD_TESTCASE: load_testcase,
    Intent.EXECUTE_TESTCASE: execute_testcase,
    Intent.RESULTS: report_results,
    Intent.COVERAGE: sum_up_coverage,
    Intent.LIST_REQUIREMENTS: list_requirements,
    Intent.UNCOVERED: list_uncovered,
    Intent.GAPS: analyse_gaps,
    Intent.POSITION: position,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """An answer with the words it cost: those read and those written."""

    text: str
    words_read: int
    words_written: int


class LabAgent:
    """One agent at its desk; it remembers what it did until the process ends."""

    def __init__(self, role: Role, lab: Lab) -> None:
        self.desk = Desk(role=role, lab=lab.only(role.platforms), everything=lab, names=Names(lab))

    def answer(self, prompt: str) -> Spoken:
        """Understands a prompt, does what it asks for and says what came of it."""
        request = understand(prompt, self.desk.names)
        try:
            reply = self.reply(request)
        except CannotAnswer as refusal:
            reply = Answer(text=refusal.text)
        text = reply.text + misspelt(request)
        read = request.words_read + sum(words_in(record) for record in reply.read)
        return Spoken(text=text, words_read=read, words_written=len(words_of(text)))

    def reply(self, request: Request) -> Answer:
        """The answer to a request that was read."""
        role = self.desk.role
        intent = recognise(request)
        if intent is None:
            return Answer(text=f"I did not understand what you want of me. {abilities(role)}")
        if intent is Intent.HELP:
            return Answer(text=abilities(role))
        if intent not in role.intents:
            return Answer(text=f"To {intent} is not my work. {abilities(role)}")
        if elsewhere := other_platform(self.desk, request):
            return Answer(text=elsewhere)
        return ANSWERS[intent](self.desk, request)


def abilities(role: Role) -> str:
    """Who the agent is and what it can be asked for."""
    able = "; ".join(intent for intent in Intent if intent in role.intents)
    scope = ", ".join(platform for platform in Platform if platform in role.platforms)
    acting = "" if role.may_act else " I read and analyse; I do not act on devices."
    return f"I am {role.nickname} ({role.id}), for {scope}. I can: {able}.{acting}"


def other_platform(desk: Desk, request: Request) -> str | None:
    """A word about who is responsible, where all that a request names belongs to others."""
    spoken_of = request.platforms or platforms_named(desk, request)
    if not spoken_of or spoken_of & desk.role.platforms:
        return None
    others = ", ".join(SPECIALISTS[platform].signature for platform in sorted(spoken_of))
    return (
        f"That belongs to {', '.join(sorted(spoken_of))}, which I do not look after: ask {others}."
    )


def platforms_named(desk: Desk, request: Request) -> frozenset[Platform]:
    """The platforms of everything that the request names."""
    lab = desk.everything
    cases = [case for case in map(lab.testcase, request.names("testcase")) if case]
    interfaces = [*request.names("userinterface"), *(case.userinterface for case in cases)]
    found = (
        *map(lab.userinterface, interfaces),
        *map(lab.device, request.names("device")),
        *map(lab.requirement, request.names("requirement")),
    )
    return frozenset(thing.platform for thing in found if thing)


def misspelt(request: Request) -> str:
    """A note on the words that were read as others."""
    if not request.read_as:
        return ""
    pairs = ", ".join(f"'{word}' as '{meant}'" for word, meant in request.read_as)
    return f"\n(I read {pairs}.)"


@lru_cache(maxsize=4096)
def words_in(record: object) -> int:
    """The words of a record: those of all its values. Records never change, so it counts once."""
    if is_dataclass(record):
        return sum(words_in(getattr(record, part.name)) for part in fields(record))
    if isinstance(record, tuple):
        return sum(words_in(part) for part in record)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return 0 if record is None else len(words_of(str(record)))
