"""`arena task`: post, apply for, submit and judge paid tasks."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import datetime
from typing import Annotated, Any

import typer

from arena.cli import output
from arena.cli.connection import call, settings_of
from arena.cli.files import evaluation_of, language_of, read_file
from arena.cli.options import Json, Language, commands
from arena.cli.parties import As, AsAgent, TaskNumber, reason_uri, signer_of
from arena.cli.spans import example_moment, is_span, moment_of, seconds_in
from arena.cli.task_commit import commit, reveal
from arena.cli.task_report import pending_words, print_outcome, print_story, print_tasks
from arena.errors import InvalidInput, NotFound
from arena.market.call import Receipt, ReceiptStatus, TaskStory
from arena.market.signing import Prover
from arena.market.task import MAX_RESULT_BYTES, TaskPost
from arena.operations.tasks import TaskOperations

app = commands("Paid tasks: post, apply, submit, judge.")

MAX_DESCRIPTION_BYTES = 100_000

Reason = Annotated[
    str, typer.Option("--reason", metavar="TEXT", help="Why: a text, a CID or a URL.")
]
Score = Annotated[int, typer.Option(min=0, max=100, metavar="N", help="0 to 100; 60 pays.")]


DescriptionOption = Annotated[
    str, typer.Argument(metavar="DESCRIPTION", help="What to do; - reads standard input.")
]
StandardOption = Annotated[
    str, typer.Option(metavar="FILE|CID", help="How it is judged: a JSON file, a CID or -.")
]
RewardOption = Annotated[str, typer.Option(metavar="AMOUNT", help="What it pays, like 0.05.")]
DeadlineOption = Annotated[
    str, typer.Option(metavar="WHEN", help="Results are accepted until then: 2h, 1d or a date.")
]
JudgeOption = Annotated[
    str | None, typer.Option(metavar="NAME", help="Who judges (default: you, self-judged).")
]
JudgeWindowOption = Annotated[
    str, typer.Option(metavar="SPAN", help="How long the judge has after the submission.")
]
FallbackJudgeOption = Annotated[
    str | None, typer.Option(metavar="NAME", help="Who judges if the judge does not.")
]
FallbackWindowOption = Annotated[
    str, typer.Option(metavar="SPAN", help="How long the fallback judge has.")
]
AgentShareOption = Annotated[
    int,
    typer.Option(min=0, max=100, metavar="PERCENT", help="What the agent gets if nobody judges."),
]
DisputeWindowOption = Annotated[
    str,
    typer.Option(metavar="SPAN", help="How long a verdict can be disputed; 0: not at all."),
]
ArbiterOption = Annotated[str | None, typer.Option(metavar="NAME", help="Who decides disputes.")]
ArbiterWindowOption = Annotated[str, typer.Option(metavar="SPAN", help="How long the arbiter has.")]
BondOption = Annotated[str, typer.Option(metavar="AMOUNT", help="What a dispute costs.")]
AssignmentOption = Annotated[
    str, typer.Option(metavar="HOW", help="manual, first or best_reputation.")
]
ApplyUntilOption = Annotated[
    str | None, typer.Option(metavar="WHEN", help="When best_reputation may choose.")
]
MaxApplicantsOption = Annotated[
    int, typer.Option(min=1, max=1000, metavar="N", help="How many may apply.")
]
CommitDeadlineOption = Annotated[
    str | None,
    typer.Option(metavar="WHEN", help="Results are committed to before, and shown after it."),
]
LedgerOption = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="embedded or evm (default: the setting ARENA_LEDGER)."),
]
KeyOption = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT",
        help="Idempotency key: repeated with it, it is posted once; needs dates, not durations.",
    ),
]


@app.command("post")
def post(
    context: typer.Context,
    description: DescriptionOption,
    standard: StandardOption,
    reward: RewardOption,
    poster: As,
    deadline: DeadlineOption = "1d",
    judge: JudgeOption = None,
    judge_window: JudgeWindowOption = "1d",
    fallback_judge: FallbackJudgeOption = None,
    fallback_window: FallbackWindowOption = "0s",
    agent_share: AgentShareOption = 0,
    dispute_window: DisputeWindowOption = "0s",
    arbiter: ArbiterOption = None,
    arbiter_window: ArbiterWindowOption = "0s",
    bond: BondOption = "0",
    assignment: AssignmentOption = "manual",
    apply_until: ApplyUntilOption = None,
    max_applicants: MaxApplicantsOption = 100,
    commit_deadline: CommitDeadlineOption = None,
    ledger: LedgerOption = None,
    key: KeyOption = None,
    as_json: Json = False,
) -> None:
    """Post a task. Its reward is locked until it is earned or its time is over."""
    if key is not None:
        _check_dates(deadline, apply_until, commit_deadline)
    spans = (judge_window, fallback_window, dispute_window, arbiter_window)
    # As typed: the operation parses amounts and choices, and reports invalid ones.
    typed: dict[str, Any] = {"reward": reward, "bond": bond, "assignment": assignment}
    typed["ledger"] = ledger
    for name, span in zip(("judge", "fallback", "dispute", "arbiter"), spans, strict=True):
        typed[f"{name}_window_seconds"] = seconds_in(f"--{name}-window", span)
    if agent_share:
        typed |= {"agent_share_percent": agent_share, "timeout_policy": "split"}
    new = TaskPost(
        poster=poster,
        description=_text(description),
        deadline=moment_of("--deadline", deadline),
        judge=judge,
        is_self_judged=judge is None or judge == poster,
        fallback_judge=fallback_judge,
        arbiter=arbiter,
        apply_until=_optional_moment("--apply-until", apply_until),
        max_applicants=max_applicants,
        commit_deadline=_optional_moment("--commit-deadline", commit_deadline),
        idempotency_key=key,
        **evaluation_of(standard),
        **typed,
    )

    async def offer(arena: TaskOperations) -> TaskStory | Receipt:
        receipt = await arena.post_task(new)
        return receipt if receipt.task_id is None else await arena.task(receipt.task_id)

    posted = call(context, TaskOperations, offer)
    if isinstance(posted, TaskStory):
        print_outcome(posted, as_json=as_json)
    else:
        output.show(posted, lambda one: output.line(pending_words(one)), as_json=as_json)


def _optional_moment(name: str, text: str | None) -> datetime | None:
    return moment_of(name, text) if text else None


def _check_dates(deadline: str, apply_until: str | None, commit_deadline: str | None) -> None:
    """Refuse durations with a key: repeated later they are other times, so another task."""
    options = {
        "--deadline": deadline,
        "--apply-until": apply_until,
        "--commit-deadline": commit_deadline,
    }
    for name, text in options.items():
        if text is not None and is_span(text):
            raise InvalidInput(
                f"{name} is {text!r}: with --key it must be a date, like {example_moment()}, "
                "so that repeating the command means the same task"
            )


def _text(description: str) -> str:
    if description != "-":
        return description
    try:
        return read_file("-", max_bytes=MAX_DESCRIPTION_BYTES).decode().strip()
    except UnicodeDecodeError:
        raise InvalidInput("the description is not UTF-8 text") from None


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
        str | None, typer.Option(metavar="TEXT", help="The next_cursor of the previous page.")
    ] = None,
    as_json: Json = False,
) -> None:
    """List the newest tasks."""
    states: Any = state  # as typed: the operation reports unknown states
    page = call(
        context,
        TaskOperations,
        lambda arena: arena.tasks(
            state=states,
            poster=poster,
            agent=agent,
            applicant=applicant,
            judge=judge,
            min_reward=min_reward,
            limit=limit,
            cursor=cursor,
        ),
    )
    output.show(page, print_tasks, as_json=as_json)


@app.command("show")
def show(context: typer.Context, task: TaskNumber, as_json: Json = False) -> None:
    """Show a task. Prints its terms, who applied, what happened and where the money went."""
    output.show(
        call(context, TaskOperations, lambda arena: arena.task(task)), print_story, as_json=as_json
    )


@app.command("apply")
def apply(
    context: typer.Context, task: TaskNumber, agent: AsAgent = None, as_json: Json = False
) -> None:
    """Apply for a task as an agent registered on this machine."""
    signer = signer_of(settings_of(context), agent)
    _move(context, task, lambda arena: arena.apply(task), as_json=as_json, signer=signer)


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
    """Assign a task to one of its applicants."""

    async def give(arena: TaskOperations) -> Receipt:
        chosen = agent
        story = await arena.task(task)
        # With best_reputation the server chooses; otherwise take the first of its ranking.
        if chosen is None and story.task.assignment != "best_reputation" and story.applicants:
            chosen = story.applicants[0].agent
        return await arena.assign(task, by=poster, agent=chosen)

    _move(context, task, give, as_json=as_json)


@app.command("submit")
def submit(
    context: typer.Context,
    task: TaskNumber,
    file: Annotated[
        str | None, typer.Argument(metavar="FILE", help="The result; - reads standard input.")
    ] = None,
    result_hash: Annotated[
        str | None, typer.Option(metavar="CID", help="The CID of a stored result.")
    ] = None,
    language: Language = None,
    agent: AsAgent = None,
    as_json: Json = False,
) -> None:
    """Submit the result of a task, once."""
    signer = signer_of(settings_of(context), agent)
    if (file is None) == (result_hash is None):
        raise InvalidInput("give either the file with the result or its --result-hash")
    data = None if file is None else read_file(file, max_bytes=MAX_RESULT_BYTES)
    _move(
        context,
        task,
        lambda arena: arena.submit(
            task, data, result_hash=result_hash, language=language or language_of(file)
        ),
        as_json=as_json,
        signer=signer,
    )


app.command("commit")(commit)
app.command("reveal")(reveal)


@app.command("judge")
def judge(
    context: typer.Context,
    task: TaskNumber,
    by: As,
    score: Score,
    reason: Reason,
    as_json: Json = False,
) -> None:
    """Give the verdict manually. `arena judge --watch` does it by the standard."""

    async def decide(arena: TaskOperations) -> Receipt:
        found = (await arena.task(task)).task
        if found.agent is None or found.result_hash is None:
            raise InvalidInput(f"task {task} is {found.state}: nothing was submitted")
        return await arena.judge(
            task,
            by=by,
            score=score,
            winner=found.agent,
            result_hash=found.result_hash,
            reason_uri=await reason_uri(arena, reason),
        )

    _move(context, task, decide, as_json=as_json)


@app.command("cancel")
def cancel(context: typer.Context, task: TaskNumber, poster: As, as_json: Json = False) -> None:
    """Cancel a task that is not assigned; the reward is refunded."""
    _move(context, task, lambda arena: arena.cancel(task, by=poster), as_json=as_json)


@app.command("expire")
def expire(context: typer.Context, task: TaskNumber, as_json: Json = False) -> None:
    """End a task whose time has run out; anyone may. An undisputed verdict is settled."""

    async def end(arena: TaskOperations) -> Receipt:
        is_judged = (await arena.task(task)).task.state.has_verdict
        return await (arena.settle if is_judged else arena.expire)(task)

    _move(context, task, end, as_json=as_json)


@app.command("dispute")
def dispute(
    context: typer.Context, task: TaskNumber, by: As, reason: Reason, as_json: Json = False
) -> None:
    """Dispute a verdict as the side that lost; locks the bond."""
    signer = None
    # An agent signs with its key on this machine; other parties need none.
    with suppress(NotFound, InvalidInput):
        signer = signer_of(settings_of(context), by)

    async def contest(arena: TaskOperations) -> Receipt:
        return await arena.dispute(task, by=by, reason_uri=await reason_uri(arena, reason))

    _move(context, task, contest, as_json=as_json, signer=signer)


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

    async def decide(arena: TaskOperations) -> Receipt:
        uri = await reason_uri(arena, reason)
        return await arena.resolve(task, by=by, score=score, reason_uri=uri)

    _move(context, task, decide, as_json=as_json)


def _move(
    context: typer.Context,
    task: int,
    work: Callable[[TaskOperations], Awaitable[Receipt]],
    *,
    as_json: bool,
    signer: Prover | None = None,
) -> None:
    """Make a move on a task, then print its new state."""

    async def move(arena: TaskOperations) -> TaskStory:
        arena.signer = signer
        receipt = await work(arena)
        if receipt.status is ReceiptStatus.PENDING:
            typer.echo(pending_words(receipt), err=True)
        return await arena.task(task)

    print_outcome(call(context, TaskOperations, move), as_json=as_json)
