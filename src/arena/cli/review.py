"""`arena review`: answer reviews item by item."""

import getpass
import sys
from collections.abc import AsyncIterator
from contextlib import nullcontext
from typing import Annotated, Any, cast
from uuid import UUID

import typer

from arena.cli import output
from arena.cli.connection import open_operations, settings_of, wait_for
from arena.cli.files import read_json_file
from arena.cli.keys import PipedKeys, TerminalKeys
from arena.cli.options import Json, commands
from arena.cli.review_session import Ending, Session, Spot
from arena.cli.run_name import find_run
from arena.cli.tables import print_table
from arena.errors import Conflict, InvalidInput
from arena.operations.reviews import ReviewList, ReviewOperations
from arena.operations.runs import RunOperations
from arena.reviews.review import ReviewAnswer, ReviewDetails, ReviewsSettled, ReviewStatus

app = commands()


class RunReviewOperations(ReviewOperations, RunOperations):
    """Reviews, and the runs that they are of."""


PAGE = 100
MAX_FILE_BYTES = 8 * 1024 * 1024


@app.command()
def review(
    context: typer.Context,
    review_id: Annotated[
        UUID | None, typer.Argument(metavar="REVIEW", help="Only this review (default: all open).")
    ] = None,
    run: Annotated[
        str | None,
        typer.Option(metavar="RUN", help="Only reviews of this run (an id, or `latest`)."),
    ] = None,
    reviewer: Annotated[
        str | None, typer.Option(metavar="NAME", help="Who judges (default: your login name).")
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="List the reviews and stop.")] = False,
    status: Annotated[
        ReviewStatus,
        typer.Option(metavar="STATE", help="With --list: open, answered, done, cancelled."),
    ] = ReviewStatus.OPEN,
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
    settle: Annotated[bool, typer.Option("--settle", help="Retry failed verdicts.")] = False,
    as_json: Json = False,
) -> None:
    """Judge waiting reviews item by item, with single keys: pass or fail."""
    settings = settings_of(context)

    async def do() -> int:
        async with open_operations(settings, RunReviewOperations) as arena:
            subject = f"run:{await find_run(arena, run)}" if run else None
            if settle:
                settled = await arena.settle_reviews()
                output.show(settled, _print_settled, as_json=as_json)
                return 3 if settled.waiting else 0
            if answer is not None:
                reviewed, answers = _read_answers(answer[1], reviewer)
                details = await arena.answer_review(answer[0], answers, reviewer=reviewed)
                output.show(details, _print_answered, as_json=as_json)
            # With --json nothing is interactive: the review itself is printed.
            elif review_id is not None and as_json:
                output.print_json(await arena.review(review_id))
            elif listed or as_json:
                page = await arena.reviews(
                    status=status, subject=subject, limit=limit, cursor=cursor
                )
                output.show(page, _print_list, as_json=as_json)
            else:
                await arena.settle_reviews()
                await _judge(arena, review_id, subject, reviewer or _login(), with_hints=suggest)
            return 0

    raise typer.Exit(wait_for(do()))


def _login() -> str:
    try:
        return getpass.getuser()[:100]
    except (OSError, KeyError):  # a user without a name, as in many containers
        return "anonymous"


async def _judge(
    client: ReviewOperations,
    review_id: UUID | None,
    subject: str | None,
    reviewer: str,
    *,
    with_hints: bool,
) -> None:
    """Go through the open reviews until all are done or the reviewer quits."""
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
                output.line("no reviews are waiting for you")


async def _hints(client: ReviewOperations, review_id: UUID) -> dict[Spot, str]:
    """A model's suggestion for each item, as text."""
    made = await client.suggest_answers(review_id)
    return {
        (one.place, one.item): f"{'pass' if one.passed else 'fail'}, {one.reason}"
        + (f" ({one.mark})" if one.mark else "")
        for one in made.suggestions
    }


async def _waiting(
    client: ReviewOperations, review_id: UUID | None, subject: str | None, reviewer: str
) -> AsyncIterator[ReviewDetails]:
    """The one review, or every open one that this reviewer has not answered, oldest first."""
    if review_id is not None:
        details = await client.review(review_id)
        if not details.review.status.takes_answers:
            raise Conflict(f"review {review_id} is {details.review.status}, see it with --json")
        yield details
        return
    cursor: str | None = None
    while True:
        page = await client.reviews(
            status=ReviewStatus.OPEN, subject=subject, limit=PAGE, cursor=cursor
        )
        for one in page.reviews:
            details = await client.review(one.id)
            if details.review.status is ReviewStatus.OPEN and not _has_answered(details, reviewer):
                yield details
        cursor = page.next_cursor
        if cursor is None:
            return


def _has_answered(details: ReviewDetails, reviewer: str) -> bool:
    return all(
        any(answer.reviewer == reviewer for answer in item.answers) for item in details.items
    )


async def _send(
    client: ReviewOperations, review_id: UUID, reviewer: str, answers: list[ReviewAnswer]
) -> None:
    try:
        details = await client.answer_review(review_id, answers, reviewer=reviewer)
    except Conflict as error:
        # Someone else completed this review; the others can still be answered.
        output.line(f"not accepted: {error.message}")
        return
    _print_answered(details)


def _read_answers(name: str, reviewer: str | None) -> tuple[str, list[ReviewAnswer]]:
    """The reviewer and answers in a file: a list, or an object with `answers` and `reviewer`."""
    value: object = read_json_file(name, max_bytes=MAX_FILE_BYTES)
    entries = cast(dict[str, Any], value) if isinstance(value, dict) else {"answers": value}
    document: dict[str, Any] = {"reviewer": _login(), **entries}
    if reviewer is not None:
        document["reviewer"] = reviewer
    if unknown := document.keys() - {"reviewer", "answers"}:
        raise InvalidInput(f"{name}: unknown field {min(unknown)!r}")
    # The operation validates them, and reports which are invalid.
    return document["reviewer"], document.get("answers", [])


def _print_answered(details: ReviewDetails) -> None:
    review = details.review
    items = output.counted(review.item_count, "item")
    text = f"review {review.id}: {review.status}, {review.answered_count} of {items} answered"
    if details.agreement.share is not None:
        shared = details.agreement.shared_items
        text += f", reviewers agree on {details.agreement.agreed_items} of {shared}"
    output.line(text)
    if review.trouble:
        verdict = "no verdict yet" if review.status is ReviewStatus.ANSWERED else "no verdict"
        output.console().print(output.plain(f"{verdict}: {review.trouble}"), style="yellow")


def _print_list(page: ReviewList) -> None:
    if not page.reviews:
        output.line("no such reviews")
        return
    columns = ("review", "status", "answered", "since (UTC)", "until (UTC)", "what")
    rows = [
        (
            str(review.id),
            output.status(review.status),
            f"{review.answered_count}/{review.item_count}",
            output.time_cell(review.created_at),
            output.time_cell(review.due_at),
            review.title,
        )
        for review in page.reviews
    ]
    optional = ("since (UTC)", "status", "until (UTC)")
    print_table(columns, rows, right=("answered",), optional=optional)
    if page.next_cursor:
        output.line(f"more with: --cursor {page.next_cursor}")


def _print_settled(done: ReviewsSettled) -> None:
    for review in done.waiting:
        output.console().print(output.plain(f"{review.id}: {review.trouble}"), style="yellow")
    output.line(f"{output.counted(len(done.settled), 'review')} settled")
