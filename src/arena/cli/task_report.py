"""Prints tasks."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from arena import clock
from arena.amounts import money_words
from arena.cli import output
from arena.cli.tables import print_table, print_values
from arena.market.agents import Applicant
from arena.market.call import MarketEvent, Receipt, TaskStory
from arena.market.task import Task, TaskState
from arena.operations.tasks import TaskList
from arena.text import UNKNOWN

OPEN = {
    "manual": "waiting for applicants: arena task assign {id} --as {poster}",
    "first": "the first agent that applies gets it",
    "best_reputation": "the best applicant gets it after {apply_until}",
}
NEXT = {
    "assigned": "{agent} has until {deadline} to submit a result",
    "committed": "{agent} has until {deadline} to reveal its result",
    "submitted": "{judge} has until {judge_until} to judge: arena judge --once --as {judge}",
    "judged": "can be disputed until {exit_at}; then: arena task expire {id}",
    "disputed": "{arbiter} has until {exit_at} to decide; then: arena task expire {id}",
    "paid": "{agent} was paid {payout} {currency} (score {final_score})",
    "refunded": "{reward} {currency} went back to {poster} (score {final_score})",
    "expired": "{why}; {reward} {currency} went back to {poster}",
    "cancelled": "cancelled; {reward} {currency} went back to {poster}",
}
"""What each state means, and what can be done."""

FALLBACK = (
    "{fallback_judge} has until {exit_at} to judge in place of {judge}: "
    "arena judge --once --as {fallback_judge}"
)
OVERDUE = "its time ran out at {exit_at}; anyone may end it: arena task expire {id}"
SPLIT = "{why}; {agent} got {payout} of {reward} {currency}, the rest went back to {poster}"
EXPIRED = {
    "no_submission": "nothing was submitted before the deadline",
    "no_verdict": "nobody judged in time",
}


def print_outcome(story: TaskStory, *, as_json: bool) -> None:
    """Print the state of a task after a call."""
    output.show(story, lambda story: output.line(_headline(story.task)), as_json=as_json)


def _headline(task: Task) -> str:
    return f"task {task.id} is {task.state}: {meaning(task)}"


def meaning(task: Task) -> str:
    """What a task's state means and what can be done next."""
    values = values_of(task)
    for name in ("deadline", "apply_until", "judge_until", "exit_at"):
        values[name] = output.moment(values[name])
    return _template(task).format(**values, why=EXPIRED.get(task.expiry_reason or ""))


def values_of(task: Task) -> dict[str, Any]:
    """The values of a task, by name."""
    names = (*(field.name for field in fields(Task)), "judge_until", "exit_at")
    return {name: getattr(task, name) for name in names}


def _template(task: Task) -> str:
    """The text for the state now: whose turn it is depends on the time too."""
    now = clock.now()
    # First: anyone may end an overdue task, whatever its state would allow otherwise.
    if task.exit_at and now >= task.exit_at:
        return OVERDUE
    if task.state is TaskState.OPEN:
        return OPEN[task.assignment]
    if task.fallback_judge and task.judge_until and task.state is TaskState.SUBMITTED:
        return NEXT["submitted"] if now < task.judge_until else FALLBACK
    if task.state is TaskState.EXPIRED and task.payout:
        return SPLIT
    return NEXT[task.state]


def print_tasks(page: TaskList) -> None:
    """A page of tasks as a table."""
    if not page.tasks:
        output.line("no tasks here; post one with: arena task post")
        return
    columns = (
        "task",
        "state",
        "reward",
        "poster",
        "agent",
        "judge",
        "score",
        "until (UTC)",
        "what",
    )
    rows = [
        (
            str(task.id),
            output.status(task.state),
            f"{task.reward} {task.currency}",
            task.poster,
            task.agent or (f"{task.applicant_count} applied" if task.applicant_count else UNKNOWN),
            f"{task.judge} (self)" if task.is_self_judged else task.judge,
            _score(task),
            output.time_cell(task.exit_at),
            task.description,
        )
        for task in page.tasks
    ]
    print_table(
        columns,
        rows,
        right=("task", "reward", "score"),
        optional=("until (UTC)", "judge", "poster", "agent"),
    )
    if page.next_cursor:
        output.line(f"more with: --cursor {page.next_cursor}")


def _score(task: Task) -> str:
    """The score that counts: an arbiter's is the final one."""
    score = task.score if task.final_score is None else task.final_score
    return UNKNOWN if score is None else str(score)


def print_story(story: TaskStory) -> None:
    """Print a task with its whole history."""
    task = story.task
    output.line(_headline(task))
    output.line("")
    print_values(_terms(task))
    if story.applicants:
        output.line("\nApplicants, the best first")
        _print_applicants(story.applicants)
    output.line("\nWhat happened")
    rows = [(output.time_cell(e.at), e.kind, e.who, _described(e)) for e in story.events]
    print_table(("when (UTC)", "what", "who", "why"), rows, lines=3)
    output.line("\nMoney")
    moves = [
        (output.time_cell(entry.at), entry.kind, posting.account, str(posting.amount))
        for entry in story.entries
        for posting in entry.postings
    ]
    heading = f"amount ({task.currency})"
    print_table(("when (UTC)", "entry", "account", heading), moves, right=(heading,))


def _terms(task: Task) -> dict[str, object]:
    fallback = task.fallback_judge and f"{task.fallback_judge}, {task.fallback_window_seconds} s"
    if task.timeout_policy == "split":
        unjudged = f"{task.agent_share_percent} % to the agent, the rest to the poster"
    else:
        unjudged = "all to the poster"
    disputes = "none: the verdict settles at once"
    if task.dispute_window_seconds:
        disputes = (
            f"within {task.dispute_window_seconds} s, bond {task.bond} {task.currency}, decided "
            f"by {task.arbiter} within {task.arbiter_window_seconds} s"
        )
    return {
        "description": task.description,
        "evaluationCID": task.evaluation_cid,
        "reward": f"{task.reward} {money_words(task.currency)}",
        "ledger": f"task {task.chain_task} of {task.contract} on {task.network}"
        if task.contract
        else None,
        "poster": task.poster,
        "deadline": output.moment(task.deadline),
        "judge": f"{task.judge}, who also posted it" if task.is_self_judged else task.judge,
        "judge's window": f"{task.judge_window_seconds} s from the submission",
        "fallback judge": fallback,
        "if nobody judges": unjudged,
        "disputes": disputes,
        "assignment": task.assignment,
        "agent": task.agent and f"{task.agent} {task.agent_version}",
        "resultHash": task.result_hash,
        "language": task.language,
        "score": task.score,
        "final score": task.final_score if task.final_score != task.score else None,
        "judged by": task.judged_by,
        "reasonURI": task.reason_uri,
        "disputed by": task.disputed_by,
        "disputeReasonURI": task.dispute_reason_uri,
        "resolutionURI": task.resolution_uri,
        "anyone may end it": task.exit_at and f"after {output.moment(task.exit_at)}",
    }


def _print_applicants(applicants: Sequence[Applicant]) -> None:
    rows = [
        (
            str(one.rank),
            one.agent,
            one.version,
            UNKNOWN
            if one.reputation.average_score is None
            else f"{one.reputation.average_score:.1f}",
            UNKNOWN
            if one.reputation.win_rate is None
            else f"{100 * one.reputation.win_rate:.0f} %",
            str(one.reputation.judged),
            output.time_cell(one.applied_at),
        )
        for one in applicants
    ]
    columns = ("rank", "agent", "version", "average", "won", "judged", "applied (UTC)")
    print_table(columns, rows, right=("rank", "average", "won", "judged"))


def pending_words(receipt: Receipt) -> str:
    """What to say of a move that is not final yet."""
    task = "the task" if receipt.task_id is None else f"task {receipt.task_id}"
    how = "the same command with its --key" if receipt.task_id is None else "arena task show"
    return (
        f"{task}: sent to the chain in transaction {receipt.transaction_hash}, which is not final "
        f"yet; see later how it went: {how}"
    )


def _described(event: MarketEvent) -> str:
    values = {**event.data, "transaction": event.transaction_hash}
    data = ", ".join(f"{name} {value}" for name, value in values.items() if value is not None)
    return f"{event.why} ({data})" if data else event.why
