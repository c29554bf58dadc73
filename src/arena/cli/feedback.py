"""`arena feedback`: rate an agent."""

from typing import Annotated
from uuid import UUID

import typer

from arena import schemas
from arena.cli import output
from arena.cli.connection import connected, settings_of, wait_for
from arena.cli.options import AgentName, commands, split_agent
from arena.client.connection import asked
from arena.settings import Settings

app = commands()


@app.command()
def feedback(
    context: typer.Context,
    agent: AgentName,
    rating: Annotated[int, typer.Option(min=1, max=5, metavar="STARS", help="1 to 5 stars.")],
    comment: Annotated[str | None, typer.Option(metavar="TEXT", help="Why.")] = None,
    task: Annotated[
        str | None, typer.Option(metavar="TEXT", help="What the agent was to do.")
    ] = None,
    user: Annotated[str, typer.Option(metavar="NAME", help="Who rates.")] = "anonymous",
    execution: Annotated[
        UUID | None, typer.Option(metavar="ID", help="The execution it is about.")
    ] = None,
) -> None:
    """Rate an agent; a later rating of the same user takes the earlier one's place."""
    agent_id, version = split_agent(agent)
    rated = asked(
        schemas.FeedbackCreate,
        agent_id=agent_id,
        version=version,
        rating=rating,
        comment=comment,
        task_description=task,
        user_id=user,
        execution_id=execution,
    )

    async def submit(settings: Settings) -> schemas.FeedbackCreated:
        async with connected(settings) as client:
            return await client.submit_feedback(rated)

    told = wait_for(submit(settings_of(context)))
    output.console().print(f"{told.message}: {'★' * rating}{'☆' * (5 - rating)} for {agent}")
