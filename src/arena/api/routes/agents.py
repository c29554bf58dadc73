"""Who answers: the agents that can be measured."""

import time
from typing import Annotated

from fastapi import Query

from arena import schemas
from arena.agents.agent import AgentDefinition
from arena.agents.connector import Answer, Question
from arena.agents.connectors import connect
from arena.api.arena import House
from arena.api.problems import responses
from arena.api.room import room_router
from arena.assembly import Arena
from arena.errors import AgentFault, InfrastructureError
from arena.models.usage import Usage
from arena.runs.session import ask

router = room_router("/api/agents", "agents")


@router.get("", responses=responses())
async def list_agents(house: House) -> schemas.AgentList:
    """List every agent in its newest version."""
    house.registry.refresh()
    # The registry has the newest version of each agent first.
    newest = {agent.id: agent for agent in reversed(house.registry.agents)}
    agents = [shown(house, agent) for _, agent in sorted(newest.items())]
    problems = [str(problem) for problem in house.registry.problems]
    return schemas.AgentList(agents=agents, count=len(agents), problems=problems)


@router.get("/{agent_id}", responses=responses(404, 409))
async def get_agent(
    house: House,
    agent_id: str,
    version: Annotated[str | None, Query(description="Default: the newest.")] = None,
) -> schemas.Agent:
    """One agent."""
    house.registry.refresh()
    return shown(house, house.registry.find(agent_id, version))


@router.post("/{agent_id}/check", responses=responses(404, 409))
async def check_agent(
    house: House, agent_id: str, body: schemas.AgentCheck
) -> schemas.AgentChecked:
    """Ask an agent once, and tell what came back and how fast."""
    house.registry.refresh()
    agent = house.registry.find(agent_id, body.version)
    question = Question(id="check", prompt=body.prompt, timeout_seconds=body.timeout_seconds)
    answer: Answer | None = None
    reason: str | None = None
    started = time.monotonic()
    try:
        answer = await _ask(agent, question)
    except (AgentFault, InfrastructureError) as fault:
        reason = fault.message
    usage = answer.usage if answer else Usage()
    return schemas.AgentChecked(
        agent_id=agent.id,
        version=agent.version,
        answered=answer is not None,
        output=answer.output if answer else None,
        reason=reason,
        duration_seconds=round(time.monotonic() - started, 6),
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        model=usage.model,
        cost_usd=usage.cost_usd,
    )


async def _ask(agent: AgentDefinition, question: Question) -> Answer:
    connector = connect(agent)
    try:
        return await ask(connector, question)
    finally:
        await connector.close()


def shown(house: Arena, agent: AgentDefinition) -> schemas.Agent:
    """An agent by the names of the API; how its program is started stays inside."""
    return schemas.Agent(
        id=agent.id,
        version=agent.version,
        versions=[known.version for known in house.registry.agents if known.id == agent.id],
        name=agent.name,
        nickname=agent.nickname,
        description=agent.description,
        tags=list(agent.tags),
        connector=agent.connector.type,
        limits=schemas.AgentLimits(
            max_concurrency=agent.limits.max_concurrency, per_minute=agent.limits.per_minute
        ),
        applicable_tests=len(house.catalog.current.for_agent(agent.id)),
    )
