"""`arena agents`: who answers."""

from typing import Annotated

import typer

from arena import schemas
from arena.cli import output
from arena.cli.connection import connected, settings_of, wait_for
from arena.cli.options import AgentName, AgentsDir, Json, commands, split_agent
from arena.cli.tables import print_table, print_values
from arena.client.connection import asked
from arena.settings import Settings

app = commands("The agents.")


@app.command("list")
def list_agents(context: typer.Context, agents: AgentsDir = None, as_json: Json = False) -> None:
    """List the agents."""

    async def fetch(settings: Settings) -> schemas.AgentList:
        async with connected(settings) as client:
            return await client.agents()

    settings = settings_of(context, agents=agents)
    found = wait_for(fetch(settings))
    for problem in found.problems if settings.server else ():  # here the log has told them
        output.console(stderr=True).print(output.plain(problem))
    if as_json:
        output.print_json(found)
        return
    columns = ("agent", "version", "nickname", "connector", "tests", "description")
    rows = [
        (
            agent.id,
            agent.version,
            agent.nickname or "–",
            agent.connector,
            str(agent.applicable_tests),
            agent.description,
        )
        for agent in found.agents
    ]
    print_table(
        columns, rows, right=("tests",), optional=("connector", "nickname", "version"), lines=2
    )


@app.command("show")
def show(
    context: typer.Context, agent: AgentName, agents: AgentsDir = None, as_json: Json = False
) -> None:
    """Show one agent."""
    agent_id, version = split_agent(agent)

    async def fetch(settings: Settings) -> schemas.Agent:
        async with connected(settings) as client:
            return await client.agent(agent_id, version)

    found = wait_for(fetch(settings_of(context, agents=agents)))
    if as_json:
        output.print_json(found)
        return
    print_values(found.model_dump(mode="json"))


@app.command("check")
def check(
    context: typer.Context,
    agent: AgentName,
    prompt: Annotated[str | None, typer.Option(metavar="TEXT", help="What to ask.")] = None,
    timeout: Annotated[
        int, typer.Option(min=1, max=600, metavar="SECONDS", help="How long to wait.")
    ] = 30,
    agents: AgentsDir = None,
    as_json: Json = False,
) -> None:
    """Ask an agent once, and tell what came back and how fast."""
    agent_id, version = split_agent(agent)
    words = {"prompt": prompt} if prompt else {}
    question = asked(schemas.AgentCheck, version=version, timeout_seconds=timeout, **words)

    async def ask(settings: Settings) -> schemas.AgentChecked:
        async with connected(settings) as client:
            return await client.check_agent(agent_id, question)

    told = wait_for(ask(settings_of(context, agents=agents)))
    if as_json:
        output.print_json(told)
    else:
        screen = output.console()
        verb = "answered" if told.answered else "did not answer"
        took = output.seconds(told.duration_seconds)
        screen.print(f"{told.agent_id} {told.version} {verb} in {took}:", style="bold")
        screen.print(output.plain(told.output if told.answered else told.reason))
    raise typer.Exit(0 if told.answered else 3)
