"""An agent of the lab: a prompt in, an answer out."""

from dataclasses import dataclass, fields, is_dataclass, replace
from functools import lru_cache

from arena.lab.answers import ANSWERS, Answer
from arena.lab.desk import SPECIALISTS, CannotAnswer, Desk, Role
from arena.lab.lab import Lab
from arena.lab.prompt import Intent, Names, Request, kind_of, words_of
from arena.lab.records import Execution, Platform, Record, Testcase

LISTED = 20
"""Known names that are listed for an unknown one."""
KINDS = {
    Intent.NAVIGATE: "node",
    Intent.DESCRIBE_TREE: "userinterface",
    Intent.LIST_USERINTERFACES: "userinterface",
    Intent.DEVICE_STATUS: "device",
    Intent.HEALTH_CHECK: "service",
    Intent.LIST_HOSTS: "host",
    Intent.LIST_REQUIREMENTS: "requirement",
    Intent.COVERAGE: "requirement",
}
"""The assumed kind of an unknown name; otherwise a test case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An answer with what it cost, in words."""

    text: str
    words_read: int
    words_written: int


class LabAgent:
    """One agent; it remembers what it did until the process ends."""

    def __init__(self, role: Role, lab: Lab) -> None:
        self.desk = Desk(role=role, lab=lab.only(role.platforms), everything=lab)
        # The names of the whole lab, so that a name of another platform is recognised as such.
        self.names = Names(lab)
        self.visible = frozenset(self.desk.lab.records())

    def answer(self, prompt: str) -> Reply:
        """Do what a prompt asks and report it."""
        try:
            answer = self.carry_out(self.names.read(prompt))
        except CannotAnswer as refusal:
            answer = Answer(lines=[str(refusal)])
        text = "\n".join(answer.lines)
        read = len(words_of(prompt)) + sum(words_in(record) for record in answer.read)
        return Reply(text=text, words_read=read, words_written=len(words_of(text)))

    def carry_out(self, request: Request) -> Answer:
        """The answer to a request, unless it is for somebody else."""
        role, intent = self.desk.role, request.intent
        if intent is None:
            return Answer(lines=[f"I do not understand what you want. {self.abilities()}"])
        if intent is Intent.HELP:
            return Answer(lines=[self.abilities()])
        if intent not in role.intents:
            return Answer(lines=[f"To {intent} is not my work. {self.abilities()}"])
        platforms = request.platforms or self.platforms_of(request)
        if platforms and not platforms & role.platforms:
            others = [SPECIALISTS[platform] for platform in sorted(platforms)]
            named = ", ".join(f"{other.id} ({other.nickname})" for other in others)
            return Answer(lines=[f"I only look after {', '.join(role.platforms)}: ask {named}."])
        for name in request.unknown:
            raise self.not_found(name, KINDS.get(intent, "testcase"))
        seen = tuple(record for record in request.mentioned if record in self.visible)
        return ANSWERS[intent](self.desk, replace(request, mentioned=seen))

    def abilities(self) -> str:
        """Who the agent is and what it can do."""
        role = self.desk.role
        able = "; ".join(intent for intent in Intent if intent in role.intents)
        scope = ", ".join(platform for platform in Platform if platform in role.platforms)
        return f"I am {role.nickname} ({role.id}), for {scope}. I can: {able}."

    def not_found(self, name: str, kind: str) -> CannotAnswer:
        """The answer to a name that nothing has: what is similar, and what exists."""
        near = [record for record in self.names.near(name) if record in self.visible]
        kind = kind_of(near[0]) if near else kind
        known = list(dict.fromkeys(r.id for r in self.desk.lab.records() if kind_of(r) == kind))
        hint = f" Did you mean {' or '.join(record.id for record in near)}?" if near else ""
        listed = ", ".join(known[:LISTED]) + (" …" if len(known) > LISTED else "")
        return CannotAnswer(
            f"{kind} '{name}' was not found: it does not exist in the lab.{hint}"
            f" Known {kind} names ({len(known)}): {listed}."
        )

    def platforms_of(self, request: Request) -> set[Platform]:
        """The platforms of everything that the request names."""
        lab = self.desk.everything
        cases = {case.id: lab.interface_of(case).platform for case in lab.testcases}
        found: set[Platform] = set()
        for record in request.mentioned:
            if isinstance(record, Testcase | Execution):
                found.add(cases[record.id if isinstance(record, Testcase) else record.testcase])
            elif platform := getattr(record, "platform", None):
                found.add(platform)
        return found


@lru_cache(maxsize=4096)
def words_in(record: Record | object) -> int:
    """The words in all values of a record."""
    if is_dataclass(record):
        return sum(words_in(getattr(record, part.name)) for part in fields(record))
    if isinstance(record, tuple):
        return sum(words_in(part) for part in record)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return 0 if record is None else len(words_of(str(record)))
