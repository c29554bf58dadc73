"""Holds a conversation with an agent: the loop of turns, and what is kept of it."""

from dataclasses import dataclass, field, replace
from typing import Any

from arena.agents.connector import Answer, Question
from arena.errors import AgentCrashed, AgentFault, InfrastructureError
from arena.models.message import Message
from arena.models.step import Step, kept_steps
from arena.models.usage import summed
from arena.runs.session import AgentSession, NotExecuted, Reply
from arena.runs.user import Ended, User

MAX_CHARACTERS = 4 * 1024 * 1024
"""Of a whole conversation: all of it is sent with every question, and stored."""


@dataclass(slots=True)
class Conversation:
    """What was said so far, and what it took."""

    messages: list[Message] = field(default_factory=list[Message])
    answers: list[Answer] = field(default_factory=list[Answer])
    duration_seconds: float = 0.0
    repeated: int = 0
    """Attempts beyond the first of each question."""
    fault: AgentFault | None = None
    user: dict[str, Any] | None = None
    """What is kept about a simulated user."""

    def question(self, first: Question, text: str) -> Question:
        """The next question: what the user says, after everything that was said before."""
        turn = len(self.answers) + 1
        return replace(
            first,
            # Another id for every turn: an agent may give its answer to a known id again.
            id=first.id if turn == 1 else f"{first.id}:{turn}",
            prompt=text,
            messages=tuple(self.messages),
            context=self.answers[-1].context if self.answers else None,
            turn=turn,
            is_conversation=True,
        )

    def add(self, text: str, reply: Reply) -> None:
        """Add what the user said and how the agent replied, or failed to."""
        turn, outcome = len(self.answers) + 1, reply.outcome
        self.messages.append(Message(role="user", content=text))
        self.duration_seconds += reply.duration_seconds
        self.repeated += reply.attempts - 1
        if isinstance(outcome, AgentFault):
            self.fault = type(outcome)(f"turn {turn}: {outcome.message}")
            return
        self.messages.append(Message(role="assistant", content=outcome.output))
        steps = tuple(replace(step, turn=turn) for step in outcome.steps)
        self.answers.append(replace(outcome, steps=steps))
        if sum(len(message.content) for message in self.messages) > MAX_CHARACTERS:
            most = f"{MAX_CHARACTERS:,} characters"
            self.fault = AgentCrashed(f"turn {turn}: the conversation is longer than {most}")

    @property
    def reply(self) -> Reply:
        """The last answer, with the steps, the usage and the time of all; or the failure."""
        outcome = self.fault or self._answer()
        return Reply(outcome, self.duration_seconds, 1 + self.repeated)

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps of all answers."""
        return tuple(step for answer in self.answers for step in answer.steps)

    def _answer(self) -> Answer:
        steps, problem = kept_steps(self.steps)
        problems = [problem, *(answer.steps_problem for answer in self.answers)]
        return replace(
            self.answers[-1],
            usage=summed([answer.usage for answer in self.answers]),
            truncated=any(answer.truncated for answer in self.answers),
            steps=steps,
            steps_problem=next(filter(None, problems), None),
        )


async def converse(session: AgentSession, first: Question, user: User) -> Conversation:
    """Ask turn by turn, each within the limits of the agent, until the user is finished.

    A failure of the agent ends the conversation. Raises `NotExecuted` if the infrastructure failed;
    the conversation then starts again when the run is resumed.
    """
    held = Conversation()
    while held.fault is None:
        try:
            text = await user.says(held.messages)
        except InfrastructureError as error:
            raise NotExecuted(1 + held.repeated, error) from error
        if text is None:
            break
        held.add(text, await session.ask(held.question(first, text)))
    ended: Ended = "agent_failed" if held.fault else "finished"
    held.user = await user.report(held.messages, ended)
    return held
