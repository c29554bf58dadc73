"""`arena agents`: list, show and check agents."""

from typing import Annotated

import typer
from rich.text import Text

from arena.cli import output
from arena.cli.connection import call, settings_of
from arena.cli.options import AgentName, AgentsPath, Json, commands
from arena.cli.tables import print_table, print_values
from arena.fields import split_agent
from arena.models.step import step_line
from arena.operations.agents import AgentOperations
from arena.text import UNKNOWN, seconds_text

app = commands("The agents.")


@app.command("list")
def list_agents(context: typer.Context, agents: AgentsPath = None, as_json: Json = False) -> None:
    """List the agents."""
    found = call(context, AgentOperations, lambda arena: arena.agents(), agents=agents)
    if settings_of(context).server:  # in process, the log has reported the problems
        for problem in found.problems:
            output.console(stderr=True).print(output.plain(problem))
    if as_json:
        output.print_json(found)
        return
    columns = ("agent", "version", "nickname", "connector", "tests", "description")
    rows = [
        (
            agent.id,
            agent.version,
            agent.nickname or UNKNOWN,
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
    context: typer.Context, agent: AgentName, agents: AgentsPath = None, as_json: Json = False
) -> None:
    """Show one agent."""
    agent_id, version = split_agent(agent)
    found = call(
        context, AgentOperations, lambda arena: arena.agent(agent_id, version), agents=agents
    )
    if as_json:
        output.print_json(found)
        return
    print_values(output.jsonable(found))


@app.command("check")
def check(
    context: typer.Context,
    agent: AgentName,
    prompt: Annotated[str | None, typer.Option(metavar="TEXT", help="What to ask.")] = None,
    timeout: Annotated[
        int, typer.Option(min=1, max=600, metavar="SECONDS", help="How long to wait.")
    ] = 30,
    agents: AgentsPath = None,
    as_json: Json = False,
) -> None:
    """Ask an agent once, and show its answer and how long it took."""
    agent_id, version = split_agent(agent)
    words = {"prompt": prompt} if prompt else {}
    checked = call(
        context,
        AgentOperations,
        lambda arena: arena.check_agent(
            agent_id, version=version, timeout_seconds=timeout, **words
        ),
        agents=agents,
    )
    if as_json:
        output.print_json(checked)
    else:
        screen = output.console()
        verb = "answered" if checked.answered else "did not answer"
        took = seconds_text(checked.duration_seconds)
        if checked.prompt:
            screen.print(Text.assemble(("asked: ", "dim"), output.plain(checked.prompt)))
        screen.print(f"{checked.agent_id} {checked.version} {verb} in {took}:", style="bold")
        screen.print(output.plain(checked.output if checked.answered else checked.reason))
        if checked.truncated:
            screen.print("(the answer was cut)", style="yellow")
        for step in checked.steps or ():
            screen.print(output.plain(f"called {step_line(step)}"), style="dim")
        if checked.steps_problem:
            screen.print(output.plain(f"({checked.steps_problem})"), style="yellow")
    raise typer.Exit(0 if checked.answered else 3)
