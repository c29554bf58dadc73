"""Has an agent do what a test asks: one question, a conversation, work on files."""

from uuid import UUID

from arena.agents.connector import Question
from arena.catalog.test import Test
from arena.evaluation.resources import Resources
from arena.models.played_tool import played_tool
from arena.runs.conversation import converse
from arena.runs.item import Item
from arena.runs.performed import Performed
from arena.runs.session import AgentSession
from arena.runs.user import Scripted


async def perform(
    session: AgentSession, run_id: UUID, item: Item, resources: Resources
) -> Performed:
    """Ask as the test says; raises `NotExecuted` if the infrastructure failed."""
    first = first_question(run_id, item.test, item.trial)

    async def ask(session: AgentSession) -> Performed:
        return await _talk(session, item.test, first)

    if item.test.workspace is None:
        return await ask(session)
    # Imported here: archives and diffs take long to load, and few tests have files.
    from arena.runs.workspace import work_on_files

    return await work_on_files(session, item.test, resources, ask)


async def _talk(session: AgentSession, test: Test, first: Question) -> Performed:
    """One question, or the conversation that begins with it."""
    if test.turns is None and test.user is None:
        return Performed(reply=await session.ask(first))
    user = Scripted(iter(test.turns)) if test.turns else session.play(test.user or {})
    held = await converse(session, first, user)
    return Performed(reply=held.reply, messages=held.messages, steps=held.steps, user=held.user)


def first_question(run_id: UUID, test: Test, trial: int) -> Question:
    """The question that a test begins with."""
    return Question(
        id=f"{run_id}:{test.id}:{trial}",
        prompt=test.prompt,
        timeout_seconds=test.timeout_seconds,
        tools=tuple(map(played_tool, test.tools or ())),
    )
