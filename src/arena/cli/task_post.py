"""`arena task post`: offer a task on terms that nobody can change."""

from typing import Annotated

import typer

from arena import schemas
from arena.cli.connection import connected, settings_of, wait_for
from arena.cli.files import evaluation_of, read_file
from arena.cli.options import Json
from arena.cli.parties import As
from arena.cli.spans import example_moment, is_span, moment_of, seconds_in
from arena.cli.task_report import moved
from arena.client.connection import asked
from arena.errors import InvalidInput

MAX_DESCRIPTION_BYTES = 100_000

Description = Annotated[
    str, typer.Argument(metavar="DESCRIPTION", help="What is to be done; - reads it.")
]
Standard = Annotated[
    str, typer.Option(metavar="FILE|CID", help="How it is judged: a JSON file, a CID or -.")
]
Reward = Annotated[str, typer.Option(metavar="AMOUNT", help="What it pays, like 0.05.")]
Deadline = Annotated[
    str, typer.Option(metavar="WHEN", help="Until when results are taken: 2h, 1d or a date.")
]
Judge = Annotated[
    str | None, typer.Option(metavar="NAME", help="Who judges (default: you, self-judged).")
]
JudgeWindow = Annotated[
    str, typer.Option(metavar="SPAN", help="How long the judge has from the submission.")
]
FallbackJudge = Annotated[
    str | None, typer.Option(metavar="NAME", help="Who judges when the judge does not.")
]
FallbackWindow = Annotated[
    str, typer.Option(metavar="SPAN", help="How long the fallback judge has.")
]
AgentShare = Annotated[
    int,
    typer.Option(min=0, max=100, metavar="PERCENT", help="What the agent gets if nobody judges."),
]
DisputeWindow = Annotated[
    str, typer.Option(metavar="SPAN", help="How long a verdict can be disputed; 0: not at all.")
]
Arbiter = Annotated[str | None, typer.Option(metavar="NAME", help="Who decides disputes.")]
ArbiterWindow = Annotated[str, typer.Option(metavar="SPAN", help="How long the arbiter has.")]
Bond = Annotated[str, typer.Option(metavar="AMOUNT", help="What a dispute costs.")]
Assignment = Annotated[str, typer.Option(metavar="HOW", help="manual, first or best_reputation.")]
ApplyUntil = Annotated[
    str | None, typer.Option(metavar="WHEN", help="From when on best_reputation chooses.")
]
MaxApplicants = Annotated[
    int, typer.Option(min=1, max=1000, metavar="N", help="How many may apply.")
]
Key = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT", help="Posted again under it, it is posted once; needs dates, not spans."
    ),
]


def post(
    context: typer.Context,
    description: Description,
    standard: Standard,
    reward: Reward,
    poster: As,
    deadline: Deadline = "1d",
    judge: Judge = None,
    judge_window: JudgeWindow = "1d",
    fallback_judge: FallbackJudge = None,
    fallback_window: FallbackWindow = "0s",
    agent_share: AgentShare = 0,
    dispute_window: DisputeWindow = "0s",
    arbiter: Arbiter = None,
    arbiter_window: ArbiterWindow = "0s",
    bond: Bond = "0",
    assignment: Assignment = "manual",
    apply_until: ApplyUntil = None,
    max_applicants: MaxApplicants = 100,
    key: Key = None,
    as_json: Json = False,
) -> None:
    """Offer a task: its reward is locked until somebody has earned it or its time is over."""
    settings = settings_of(context)
    if key is not None:
        _check_dates(deadline, apply_until)
    new = asked(
        schemas.TaskPost,
        poster=poster,
        description=_text(description),
        **evaluation_of(standard),
        reward=reward,
        deadline=moment_of("--deadline", deadline),
        judge=judge,
        is_self_judged=judge is None or judge == poster,
        judge_window_seconds=seconds_in("--judge-window", judge_window),
        fallback_judge=fallback_judge,
        fallback_window_seconds=seconds_in("--fallback-window", fallback_window),
        timeout_policy="split" if agent_share else "refund",
        agent_share_percent=agent_share,
        dispute_window_seconds=seconds_in("--dispute-window", dispute_window),
        arbiter=arbiter,
        arbiter_window_seconds=seconds_in("--arbiter-window", arbiter_window),
        bond=bond,
        assignment=assignment,
        apply_until=moment_of("--apply-until", apply_until) if apply_until else None,
        max_applicants=max_applicants,
        idempotency_key=key,
    )

    async def offer() -> schemas.TaskStory:
        async with connected(settings) as client:
            receipt = await client.post_task(new)
            assert receipt.task_id is not None
            return await client.task(receipt.task_id)

    moved(wait_for(offer()), as_json=as_json)


def _check_dates(deadline: str, apply_until: str | None) -> None:
    """Refuse spans under a key: typed again they are other moments, and so another task."""
    for name, text in (("--deadline", deadline), ("--apply-until", apply_until)):
        if text is not None and is_span(text):
            raise InvalidInput(
                f"{name} is {text!r}: with --key it must be a date, like {example_moment()}, "
                "so that the same command means the same task when it is typed again"
            )


def _text(description: str) -> str:
    if description != "-":
        return description
    try:
        return read_file("-", max_bytes=MAX_DESCRIPTION_BYTES).decode().strip()
    except UnicodeDecodeError:
        raise InvalidInput("the description is not UTF-8 text") from None
