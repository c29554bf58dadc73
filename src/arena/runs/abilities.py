"""Refuses tests that ask for more than the connector of an agent can do."""

from collections.abc import Iterable

from arena.agents.agent import AgentDefinition
from arena.agents.connectors import ABILITIES, Ability, abilities_of
from arena.catalog.test import Test
from arena.catalog.tests import with_different
from arena.errors import InvalidInput
from arena.runs.user import NO_USER
from arena.settings import Settings

WORDS: dict[Ability, str] = {
    "conversation": "has several turns",
    "tools": "offers tools",
    "workspace": "gives the agent a workspace",
}


REMEDIES: dict[tuple[str, Ability], str] = {
    ("command", "conversation"): "let the program read the question as JSON from its standard "
    "input: leave 'input' and {prompt} out",
    ("http", "conversation"): "put {messages} (or {context}) into the body in the agent's file",
}
"""For agents whose type of connector could do it, with other options."""


def check_abilities(agent: AgentDefinition, tests: Iterable[Test], settings: Settings) -> None:
    """Refuse the first test that the agent's connector cannot execute, or that lacks its user."""
    abilities: frozenset[Ability] | None = None
    for test in with_different(tests, "turns", "user", "tools", "workspace"):
        if test.user is not None and not settings.has_user:
            raise InvalidInput(f"the test {test.id!r} needs a simulated user, but {NO_USER}")
        for need in needs_of(test):
            # Looked up on first use: most tests need nothing, and it may import a package.
            abilities = abilities_of(agent) if abilities is None else abilities
            if need not in abilities:
                raise InvalidInput(_refusal(agent, test, need))


def needs_of(test: Test) -> Iterable[Ability]:
    """What a test needs besides one prompt."""
    if test.turns is not None or test.user is not None:
        yield "conversation"
    if test.tools is not None:
        yield "tools"
    if test.workspace is not None:
        yield "workspace"


def _refusal(agent: AgentDefinition, test: Test, need: Ability) -> str:
    cannot = f"the test {test.id!r} {WORDS[need]}, which the connector {agent.connector.type!r} of "
    if remedy := REMEDIES.get((agent.connector.type, need)):
        return f"{cannot}{agent.id!r} cannot do as it is configured; {remedy}"
    able = sorted(kind for kind, abilities in ABILITIES.items() if need in abilities)
    return (
        f"{cannot}{agent.id!r} cannot do; connectors that can: {', '.join(able) or 'none'}; "
        "or name the agents that the test is for (agents:)"
    )
