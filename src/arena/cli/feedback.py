"""`arena feedback`: rate an agent."""

from typing import Annotated
from uuid import UUID

import typer

from arena.cli import output
from arena.cli.connection import call
from arena.cli.options import AgentName, commands
from arena.fields import split_agent
from arena.operations.scores import ScoreOperations

app = commands()


@app.command()
def feedback(
    context: typer.Context,
    agent: AgentName,
    rating: Annotated[int, typer.Option(min=1, max=5, metavar="STARS", help="1 to 5 stars.")],
    comment: Annotated[str | None, typer.Option(metavar="TEXT", help="Why.")] = None,
    task: Annotated[
        str | None, typer.Option(metavar="TEXT", help="What the agent had to do.")
    ] = None,
    user: Annotated[str, typer.Option(metavar="NAME", help="Who rates.")] = "anonymous",
    execution: Annotated[
        UUID | None, typer.Option(metavar="ID", help="The execution it is about.")
    ] = None,
) -> None:
    """Rate an agent; a later rating of the same user replaces the earlier one."""
    agent_id, version = split_agent(agent)
    created = call(
        context,
        ScoreOperations,
        lambda arena: arena.submit_feedback(
            agent_id,
            rating,
            version=version,
            comment=comment,
            task_description=task,
            user_id=user,
            execution_id=execution,
        ),
    )
    output.console().print(f"{created.message}: {'★' * rating}{'☆' * (5 - rating)} for {agent}")
