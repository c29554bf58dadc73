"""`arena task`: what is to be done, for a reward."""

from contextlib import suppress
from typing import Annotated

import typer

from arena import schemas
from arena.cli import output
from arena.cli.connection import connected, settings_of, wait_for
from arena.cli.files import read_file
from arena.cli.options import Json, commands
from arena.cli.parties import As, AsAgent, TaskNumber, acting, signer_of
from arena.cli.reasons import reason_uri
from arena.cli.task_post import post
from arena.cli.task_report import moved, print_story, print_tasks
from arena.errors import InvalidInput, NotFound
from arena.settings import Settings

app = commands("Paid tasks: post, apply, submit, judge.")

MAX_RESULT_BYTES = 8 * 1024**2
Reason = Annotated[
    str, typer.Option("--reason", metavar="TEXT", help="Why: words, a CID or an address.")
]
Score = Annotated[int, typer.Option(min=0, max=100, metavar="N", help="0 to 100; 60 pays.")]


app.command("post")(post)


@app.command("list")
def list_tasks(
    context: typer.Context,
    state: Annotated[
        list[str] | None, typer.Option(metavar="STATE", help="Only these states (repeatable).")
    ] = None,
    poster: Annotated[str | None, typer.Option(metavar="NAME")] = None,
    agent: Annotated[str | None, typer.Option(metavar="ID", help="Assigned to it.")] = None,
    applicant: Annotated[str | None, typer.Option(metavar="ID", help="It has applied.")] = None,
    judge: Annotated[
        str | None, typer.Option(metavar="NAME", help="Judge, fallback judge or arbiter.")
    ] = None,
    min_reward: Annotated[str | None, typer.Option(metavar="AMOUNT")] = None,
    limit: Annotated[int, typer.Option(min=1, max=500, metavar="N", help="How many.")] = 20,
    cursor: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Go on behind a page (its next_cursor).")
    ] = None,
    as_json: Json = False,
) -> None:
    """List the newest tasks."""

    async def fetch(settings: Settings) -> schemas.TaskList:
        async with connected(settings) as client:
            return await client.tasks(
                state=state,
                poster=poster,
                agent=agent,
                applicant=applicant,
                judge=judge,
                min_reward=min_reward,
                limit=limit,
                cursor=cursor,
            )

    tasks = wait_for(fetch(settings_of(context)))
    if as_json:
        output.print_json(tasks)
    else:
        print_tasks(tasks)


@app.command("show")
def show(context: typer.Context, task: TaskNumber, as_json: Json = False) -> None:
    """Show a task: its terms, who applied, what happened and where the money went."""

    async def fetch(settings: Settings) -> schemas.TaskStory:
        async with connected(settings) as client:
            return await client.task(task)

    story = wait_for(fetch(settings_of(context)))
    if as_json:
        output.print_json(story)
    else:
        print_story(story)


@app.command("apply")
def apply(
    context: typer.Context, task: TaskNumber, agent: AsAgent = None, as_json: Json = False
) -> None:
    """Ask for a task as an agent that has joined on this machine."""
    settings = settings_of(context)
    signer = signer_of(settings, agent)

    async def ask() -> schemas.TaskStory:
        async with connected(settings) as client:
            await acting(client, signer).apply(task)
            return await client.task(task)

    moved(wait_for(ask()), as_json=as_json)


@app.command("assign")
def assign(
    context: typer.Context,
    task: TaskNumber,
    poster: As,
    agent: Annotated[
        str | None, typer.Option(metavar="ID", help="Whom (default: the best applicant).")
    ] = None,
    as_json: Json = False,
) -> None:
    """Give a task to one of its applicants."""

    async def give(settings: Settings) -> schemas.TaskStory:
        async with connected(settings) as client:
            chosen = agent
            story = await client.task(task)
            if chosen is None and story.task.assignment != "best_reputation" and story.applicants:
                chosen = story.applicants[0].agent
            await client.assign(task, by=poster, agent=chosen)
            return await client.task(task)

    moved(wait_for(give(settings_of(context))), as_json=as_json)


@app.command("submit")
def submit(
    context: typer.Context,
    task: TaskNumber,
    file: Annotated[
        str | None, typer.Argument(metavar="FILE", help="The result; - reads it.")
    ] = None,
    result_hash: Annotated[
        str | None, typer.Option(metavar="CID", help="The result is in the content store.")
    ] = None,
    agent: AsAgent = None,
    as_json: Json = False,
) -> None:
    """Hand in the result of a task, once."""
    settings = settings_of(context)
    signer = signer_of(settings, agent)
    if (file is None) == (result_hash is None):
        raise InvalidInput("name the file with the result, or its --result-hash: one of them")
    data = None if file is None else read_file(file, max_bytes=MAX_RESULT_BYTES)

    async def hand_in() -> schemas.TaskStory:
        async with connected(settings) as client:
            await acting(client, signer).submit(task, data, result_hash=result_hash)
            return await client.task(task)

    moved(wait_for(hand_in()), as_json=as_json)


@app.command("judge")
def judge(
    context: typer.Context,
    task: TaskNumber,
    by: As,
    score: Score,
    reason: Reason,
    as_json: Json = False,
) -> None:
    """Give the verdict by hand; `arena judge --watch` does it by the standard."""

    async def decide(settings: Settings) -> schemas.TaskStory:
        async with connected(settings) as client:
            found = (await client.task(task)).task
            if found.agent is None or found.result_hash is None:
                raise InvalidInput(f"task {task} is {found.state}: nothing was submitted")
            verdict = schemas.TaskJudge(
                by=by,
                score=score,
                winner=found.agent,
                result_hash=found.result_hash,
                reason_uri=await reason_uri(client, reason),
            )
            await client.judge(task, verdict)
            return await client.task(task)

    moved(wait_for(decide(settings_of(context))), as_json=as_json)


@app.command("cancel")
def cancel(context: typer.Context, task: TaskNumber, poster: As, as_json: Json = False) -> None:
    """Take back a task that is not assigned; the reward returns."""

    async def take_back(settings: Settings) -> schemas.TaskStory:
        async with connected(settings) as client:
            await client.cancel(task, by=poster)
            return await client.task(task)

    moved(wait_for(take_back(settings_of(context))), as_json=as_json)


@app.command("expire")
def expire(context: typer.Context, task: TaskNumber, as_json: Json = False) -> None:
    """End a task whose time has run out; anyone may. A verdict nobody disputed is settled."""

    async def end(settings: Settings) -> schemas.TaskStory:
        async with connected(settings) as client:
            state = (await client.task(task)).task.state
            await (client.settle if state in ("judged", "disputed") else client.expire)(task)
            return await client.task(task)

    moved(wait_for(end(settings_of(context))), as_json=as_json)


@app.command("dispute")
def dispute(
    context: typer.Context, task: TaskNumber, by: As, reason: Reason, as_json: Json = False
) -> None:
    """Contest a verdict as the side that lost; locks the bond."""

    async def contest(settings: Settings) -> schemas.TaskStory:
        async with connected(settings) as client:
            # An agent signs with the key it has here; anybody else needs none.
            with suppress(NotFound, InvalidInput):
                acting(client, signer_of(settings, by))
            await client.dispute(task, by=by, reason_uri=await reason_uri(client, reason))
            return await client.task(task)

    moved(wait_for(contest(settings_of(context))), as_json=as_json)


@app.command("resolve")
def resolve(
    context: typer.Context,
    task: TaskNumber,
    by: As,
    score: Score,
    reason: Reason,
    as_json: Json = False,
) -> None:
    """Decide a dispute as the arbiter; settles at once."""

    async def decide(settings: Settings) -> schemas.TaskStory:
        async with connected(settings) as client:
            uri = await reason_uri(client, reason)
            await client.resolve(task, by=by, score=score, reason_uri=uri)
            return await client.task(task)

    moved(wait_for(decide(settings_of(context))), as_json=as_json)
