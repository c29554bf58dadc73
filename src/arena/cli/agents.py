"""`arena agents`: who answers."""

from typing import Annotated

import typer

from arena import schemas
from arena.cli import output
from arena.cli.connection import connected, settings_of, wait_for
from arena.cli.options import AgentsDir, Json
from arena.settings import Settings

app = typer.Typer(no_args_is_help=True, help="The agents.", rich_markup_mode=None)

AgentName = Annotated[str, typer.Argument(help="AGENT or AGENT@VERSION.", metavar="AGENT")]


@app.command("list")
def list_agents(context: typer.Context, agents: AgentsDir = None, as_json: Json = False) -> None:
    """List the agents."""

    async def fetch(settings: Settings) -> schemas.AgentList:
        async with connected(settings) as client:
            return await client.agents()

    found = wait_for(fetch(settings_of(context, agents=agents)))
    for problem in found.problems:
        output.console(stderr=True).print(output.plain(problem))
    if as_json:
        output.print_json(found)
        return
    lines = output.table(
        "", "agent", "version", "nickname", "connector", "tests", "description", right=("tests",)
    )
    for agent in found.agents:
        lines.add_row(
            agent.id,
            agent.version,
            output.plain(agent.nickname or "–"),
            agent.connector,
            str(agent.applicable_tests),
            output.plain(agent.description),
        )
    output.console().print(lines)


@app.command("show")
def show(
    context: typer.Context, agent: AgentName, agents: AgentsDir = None, as_json: Json = False
) -> None:
    """Show one agent."""
    agent_id, _, version = agent.partition("@")

    async def fetch(settings: Settings) -> schemas.Agent:
        async with connected(settings) as client:
            return await client.agent(agent_id, version or None)

    found = wait_for(fetch(settings_of(context, agents=agents)))
    if as_json:
        output.print_json(found)
        return
    lines = output.table("", "key", "value")
    lines.show_header = False
    for key, value in found.model_dump(mode="json").items():
        if value not in (None, []):
            lines.add_row(key, output.plain(output.listed(value)))
    output.console().print(lines)


@app.command("check")
def check(
    context: typer.Context,
    agent: AgentName,
    prompt: Annotated[str | None, typer.Option(help="What to ask.")] = None,
    timeout: Annotated[int, typer.Option(min=1, max=600, help="Seconds to wait.")] = 30,
    agents: AgentsDir = None,
    as_json: Json = False,
) -> None:
    """Ask an agent once, and tell what came back and how fast."""
    agent_id, _, version = agent.partition("@")
    asked = schemas.AgentCheck(version=version or None, timeout_seconds=timeout)
    if prompt:
        asked = asked.model_copy(update={"prompt": prompt})

    async def ask(settings: Settings) -> schemas.AgentChecked:
        async with connected(settings) as client:
            return await client.check_agent(agent_id, asked)

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
