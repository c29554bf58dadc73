"""Agents: list them, and check whether one answers."""

import time
from dataclasses import asdict
from typing import Annotated

from pydantic import Field

from arena.agents.agent import Agent, AgentChecked, AgentDefinition, AgentList
from arena.errors import AgentFault, InfrastructureError
from arena.fields import NewestVersion
from arena.operations.operation import OperationGroup, get, post

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
        from arena.agents.connector import Question
        from arena.runs.session import ask

        self.arena.registry.refresh()
        agent = self.arena.registry.find(agent_id, version)
        question = Question(id="check", prompt=prompt, timeout_seconds=timeout_seconds)
        answer, reason = None, None
        started = time.monotonic()
        try:
            session = self.arena.sessions.open(agent)
            try:
                async with session.limiter.turn():
                    started = time.monotonic()
                    answer = await ask(session.connector, question)
            finally:
                await session.connector.close()
        except (AgentFault, InfrastructureError) as error:
            reason = self._shown(error.message)
        return AgentChecked(
            agent_id=agent.id,
            version=agent.version,
            prompt=prompt,
            answered=answer is not None,
            output=answer.output if answer else None,
            reason=reason,
            duration_seconds=round(time.monotonic() - started, 6),
            truncated=answer is not None and answer.truncated,
            steps=list(answer.steps) or None if answer else None,
            **(asdict(answer.usage) if answer else {}),
        )

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
