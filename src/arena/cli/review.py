"""`arena review`: judge what waits for people."""

import getpass
import sys
from collections.abc import AsyncIterator
from contextlib import nullcontext
from typing import Annotated, Any, cast
from uuid import UUID

import typer

from arena import schemas
from arena.cli import output
from arena.cli.connection import connected, settings_of, wait_for
from arena.cli.files import read_json_file
from arena.cli.keys import PipedKeys, TerminalKeys
from arena.cli.options import Json, commands
from arena.cli.review_session import Ending, Session, Spot
from arena.cli.tables import print_table
from arena.client import Client
from arena.client.connection import asked
from arena.errors import Conflict

app = commands()

PAGE = 100
MAX_FILE_BYTES = 8 * 1024 * 1024


@app.command()
def review(
    context: typer.Context,
    review_id: Annotated[
        UUID | None, typer.Argument(metavar="REVIEW", help="Only this review (default: all open).")
    ] = None,
    run: Annotated[
        UUID | None, typer.Option(metavar="RUN", help="Only reviews of this run.")
    ] = None,
    reviewer: Annotated[
        str | None, typer.Option(metavar="NAME", help="Who judges (default: your login name).")
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="List the reviews and stop.")] = False,
    status: Annotated[
        str, typer.Option(metavar="STATE", help="With --list: open, answered, done, cancelled.")
    ] = "open",
    limit: Annotated[int, typer.Option(min=1, max=1000, metavar="N", help="With --list.")] = 20,
    cursor: Annotated[
        str | None, typer.Option(metavar="TEXT", help="With --list: its next_cursor.")
    ] = None,
    answer: Annotated[
        tuple[UUID, str] | None,
        typer.Option(metavar="REVIEW FILE", help="Answer by a JSON file (- reads it from stdin)."),
    ] = None,
    suggest: Annotated[
        bool, typer.Option("--suggest", help="Show what the configured judge would answer.")
    ] = False,
    settle: Annotated[
        bool, typer.Option("--settle", help="Make verdicts that something was in the way of.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Judge what waits for people, item by item, by single keys: pass or fail."""
    settings = settings_of(context)
    subject = f"run:{run}" if run else None

    async def do() -> int:
        async with connected(settings) as client:
            if settle:
                return _show_settled(await client.settle_reviews(), as_json=as_json)
            if answer is not None:
                given = _read_answers(answer[1], reviewer)
                return _show_answered(await client.answer_review(answer[0], given), as_json=as_json)
            if review_id is not None and as_json:
                output.print_json(await client.review(review_id))
                return 0
            if listed or as_json:
                page = await client.reviews(
                    status=status, subject=subject, limit=limit, cursor=cursor
                )
                return _show_list(page, as_json=as_json)
            await client.settle_reviews()
            name = reviewer or _login()
            return await _judge(client, review_id, subject, name, with_hints=suggest)

    raise typer.Exit(wait_for(do()))


def _login() -> str:
    try:
        return getpass.getuser()[:100]
    except (OSError, KeyError):  # nobody in particular, as in many containers
        return "anonymous"


async def _judge(
    client: Client, review_id: UUID | None, subject: str | None, reviewer: str, *, with_hints: bool
) -> int:
    """Go through what is open until it is done or the reviewer has had enough."""
    keys = TerminalKeys() if sys.stdin.isatty() else PipedKeys()
    session = Session(keys, output.console(), reviewer)
    judged = 0
    with keys if isinstance(keys, TerminalKeys) else nullcontext():
        async for details in _waiting(client, review_id, subject, reviewer):
            heading = f"review {details.review.id}, as {reviewer}"
            if details.review.due_at:
                heading += f", counts until {output.moment(details.review.due_at)}"
            hints = await _hints(client, details.review.id) if with_hints else {}
            answers, ending = await session.review(details, heading, hints)
            if answers:
                await _send(client, details.review.id, reviewer, answers)
                judged += 1
            if ending is Ending.QUIT:
                break
        else:
            if not judged:
                output.line("nothing waits for you")
    return 0


async def _hints(client: Client, review_id: UUID) -> dict[Spot, str]:
    """What a model would answer to each item, in words."""
    told = await client.suggest_answers(review_id)
    return {
        (tuple(one.place), one.item): f"{'pass' if one.passed else 'fail'}, {one.reason}"
        + (f" ({one.mark})" if one.mark else "")
        for one in told.suggestions
    }


async def _waiting(
    client: Client, review_id: UUID | None, subject: str | None, reviewer: str
) -> AsyncIterator[schemas.ReviewDetails]:
    """The one review, or every open one that this reviewer has not answered, oldest first."""
    if review_id is not None:
        details = await client.review(review_id)
        if details.review.status not in ("open", "answered"):
            raise Conflict(f"review {review_id} is {details.review.status}, see it with --json")
        yield details
        return
    cursor: str | None = None
    while True:
        page = await client.reviews(status="open", subject=subject, limit=PAGE, cursor=cursor)
        for one in page.reviews:
            details = await client.review(one.id)
            if details.review.status == "open" and not _has_answered(details, reviewer):
                yield details
        cursor = page.next_cursor
        if cursor is None:
            return


def _has_answered(details: schemas.ReviewDetails, reviewer: str) -> bool:
    return all(
        any(answer.reviewer == reviewer for answer in item.answers) for item in details.items
    )


async def _send(
    client: Client, review_id: UUID, reviewer: str, answers: list[schemas.ReviewAnswer]
) -> None:
    given = asked(schemas.ReviewAnswers, reviewer=reviewer, answers=answers)
    try:
        details = await client.answer_review(review_id, given)
    except Conflict as over:
        # Somebody else was faster; the other reviews are still worth the reviewer's time.
        output.line(f"not taken: {over.message}")
        return
    _show_answered(details, as_json=False)


def _read_answers(name: str, reviewer: str | None) -> schemas.ReviewAnswers:
    """The answers in a file: a list of them, or an object with `answers` and `reviewer`."""
    value: object = read_json_file(name, max_bytes=MAX_FILE_BYTES)
    document = cast(dict[str, Any], value) if isinstance(value, dict) else {"answers": value}
    if reviewer is not None:
        document["reviewer"] = reviewer
    return asked(schemas.ReviewAnswers, **{"reviewer": _login(), **document})


def _show_answered(details: schemas.ReviewDetails, *, as_json: bool) -> int:
    if as_json:
        output.print_json(details)
        return 0
    review = details.review
    told = f"review {review.id}: {review.status}, "
    told += f"{review.answered_count} of {output.counted(review.item_count, 'item')} answered"
    if details.agreement.share is not None:
        shared = details.agreement.shared_items
        told += f", reviewers agree on {details.agreement.agreed_items} of {shared}"
    output.line(told)
    if review.trouble:
        told = "no verdict yet" if review.status == "answered" else "no verdict"
        output.console().print(output.plain(f"{told}: {review.trouble}"), style="yellow")
    return 0


def _show_list(page: schemas.ReviewList, *, as_json: bool) -> int:
    if as_json:
        output.print_json(page)
        return 0
    if not page.reviews:
        output.line("no such reviews")
        return 0
    columns = ("review", "status", "answered", "since", "until", "what")
    rows = [
        (
            str(review.id),
            output.status(review.status),
            f"{review.answered_count}/{review.item_count}",
            output.moment(review.created_at),
            output.moment(review.due_at),
            review.title,
        )
        for review in page.reviews
    ]
    print_table(columns, rows, right=("answered",), optional=("since", "status", "until"))
    if page.next_cursor:
        output.line(f"more with: --cursor {page.next_cursor}")
    return 0


def _show_settled(done: schemas.ReviewsSettled, *, as_json: bool) -> int:
    if as_json:
        output.print_json(done)
    else:
        for review in done.waiting:
            output.console().print(output.plain(f"{review.id}: {review.trouble}"), style="yellow")
        output.line(f"{output.counted(len(done.settled), 'review')} settled")
    return 3 if done.waiting else 0
