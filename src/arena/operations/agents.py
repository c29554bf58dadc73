"""Agents: list them, and check whether one answers."""

import math
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from arena.agents.agent import Agent, AgentChecked, AgentDefinition, AgentList
from arena.errors import AgentFault, AgentUnavailable, InfrastructureError
from arena.fields import NewestVersion
from arena.operations.operation import OperationGroup, get, post

if TYPE_CHECKING:
    from arena.agents.connector import Question
    from arena.runs.session import Reply

# Without a limit, as in 0.1: a version that is too long is not found, like any unknown one.
AnyVersion = Annotated[str | None, Field(description="Default: the newest.")]
Prompt = Annotated[str, Field(min_length=1, max_length=100_000)]


class AgentOperations(OperationGroup):
    """The agents."""

    @get("/api/agents", id="list_agents", tag="agents", team=False)
    async def agents(self) -> AgentList:
        """List every agent in its newest version."""
        registry = self.arena.registry
        # On every request, so that an edited agent file needs no restart.
        registry.refresh()
        agents = [self._described(agent) for agent in registry.newest]
        problems = [self._shown(str(problem)) for problem in registry.problems]
        return AgentList(agents=agents, count=len(agents), problems=problems)

    @get("/api/agents/{agent_id}", id="get_agent", tag="agents", team=False, errors=(404, 409))
    async def agent(self, agent_id: str, version: AnyVersion = None) -> Agent:
        """One agent."""
        self.arena.registry.refresh()
        return self._described(self.arena.registry.find(agent_id, version))

    @post(
        "/api/agents/{agent_id}/check",
        tag="agents",
        team=False,
        errors=(404, 409),
        body="AgentCheck",
    )
    async def check_agent(
        self,
        agent_id: str,
        *,
        prompt: Prompt = "Hello! What can you do?",
        version: NewestVersion = None,
        timeout_seconds: Annotated[int, Field(ge=1, le=600)] = 30,
    ) -> AgentChecked:
        """Ask an agent once, and report its answer and its duration."""
        # Imported here: the other operations do not run agents.
        from arena.agents.connector import Answer, Question

        self.arena.registry.refresh()
        agent = self.arena.registry.find(agent_id, version)
        question = Question(id="check", prompt=prompt, timeout_seconds=timeout_seconds)
        started = time.monotonic()
        try:
            reply = await self._asked(agent, question)
            outcome, seconds = reply.outcome, reply.duration_seconds
        except (AgentFault, InfrastructureError) as error:
            outcome, seconds = error, time.monotonic() - started
        answer = outcome if isinstance(outcome, Answer) else None
        return AgentChecked(
            agent_id=agent.id,
            version=agent.version,
            prompt=prompt,
            answered=answer is not None,
            output=answer.output if answer else None,
            reason=None if isinstance(outcome, Answer) else self._shown(outcome.message),
            duration_seconds=round(seconds, 6),
            truncated=answer is not None and answer.truncated,
            steps=list(answer.steps) or None if answer else None,
            steps_problem=answer.steps_problem if answer else None,
            **(asdict(answer.usage) if answer else {}),
        )

    async def _asked(self, agent: AgentDefinition, question: "Question") -> "Reply":
        """What the agent says in one turn, within the limits that it has for runs and checks."""
        session = self.arena.sessions.open(agent)
        try:
            if (pause := session.throttle.pause_seconds) > question.timeout_seconds:
                raise AgentUnavailable(
                    f"the agent throttles: it can be asked again in {math.ceil(pause):,} s"
                )
            return await session.ask_once(question)
        finally:
            await session.connector.close()

    def _described(self, agent: AgentDefinition) -> Agent:
        """The public view of an agent; how its program is started is not sent."""
        return Agent(
            id=agent.id,
            version=agent.version,
            versions=self.arena.registry.versions(agent.id),
            name=agent.name,
            nickname=agent.nickname,
            description=agent.description,
            tags=list(agent.tags),
            connector=agent.connector.type,
            limits=agent.limits,
            applicable_tests=len(self.arena.catalog.current.for_agent(agent.id)),
        )
