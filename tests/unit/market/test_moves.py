"""Every row of the table of moves, allowed and forbidden.

What must happen is written here by hand, from the rules in docs/market.md, in seconds after NOON;
nothing is taken from the table under test. `ann` posts, `solver` does the work, `rival` has applied
too, `nobody` has no part, `jim` judges, `fay` is the fallback judge, `art` the arbiter.
"""

from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from arena.amounts import Amount
from arena.market.agents import Reputation
from arena.market.call import Action, Call, Step
from arena.market.errors import BadContent, BadScore, TooEarly, TooLate, WrongRole, WrongState
from arena.market.moves import check
from arena.market.projection import ended_execution, gained_reputation
from arena.market.task import Assignment, Task, TaskState, Terms, TimeoutPolicy

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
TICK = timedelta(microseconds=1)
EVERYBODY = ("ann", "solver", "rival", "nobody", "jim", "fay", "art")
RESULT = "bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e"
OTHER_RESULT = "bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku"
PLAIN = Terms(reward=Amount(100), deadline=NOON + timedelta(seconds=3600), judge_window_seconds=600)
FALLBACK = replace(PLAIN, fallback_judge="fay", fallback_window_seconds=300)
DISPUTABLE = replace(
    PLAIN, dispute_window_seconds=120, arbiter="art", arbiter_window_seconds=180, bond=Amount(7)
)
COMMITTING = replace(PLAIN, commit_deadline=NOON + timedelta(seconds=1800))
BY_REPUTATION = replace(
    PLAIN, assignment=Assignment.BEST_REPUTATION, apply_until=NOON + timedelta(seconds=900)
)
SPLIT = replace(
    PLAIN, reward=Amount(101), timeout_policy=TimeoutPolicy.SPLIT, agent_share_percent=50
)
EVERY_ROLE = replace(DISPUTABLE, fallback_judge="fay", fallback_window_seconds=300)


def after(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def vars_of(terms: Terms) -> dict[str, Any]:
    return {field.name: getattr(terms, field.name) for field in fields(Terms)}


def a_task(state: str, terms: Terms = PLAIN, *, score: int = 80, disputer: str = "ann") -> Task:
    """A task that came to `state`: submitted at 1000, judged at 1100, disputed at 1200."""
    task = Task(
        id=9,
        team_id="t",
        poster="ann",
        description="do it",
        evaluation_cid=OTHER_RESULT,
        judge="ann" if terms.is_self_judged else "jim",
        **vars_of(terms),
        state=TaskState(state),
        posted_at=NOON,
        applicant_count=2,
    )
    reached = ["open", "assigned", "committed", "submitted", "judged", "disputed"].index(state)
    if reached >= 1:
        task = replace(task, agent="solver", agent_version="1.0.0", assigned_at=after(500))
    if reached >= 2 and terms.commit_deadline:
        task = replace(task, commitment="c" * 64)
    if reached >= 3:
        task = replace(task, result_hash=RESULT, submitted_at=after(1000))
    if reached >= 4:
        task = replace(task, score=score, judged_by="jim", judged_at=after(1100))
    if reached >= 5:
        task = replace(task, disputed_by=disputer, disputed_at=after(1200))
    return task


def a_call(action: str, by: str, **changes: object) -> Call:
    """A call whose content is right."""
    contents: dict[str, dict[str, object]] = {
        "assign": {"agent": "solver", "version": "1.0.0"},
        "assign_best": {"agent": "rival", "version": "2.0.0"},
        "apply": {"version": "1.0.0"},
        "commit_result": {"commitment": "c" * 64},
        "submit_result": {"result_hash": RESULT, "commitment": "c" * 64},
        "judge": {"score": 80, "agent": "solver", "result_hash": RESULT, "reason_uri": "r"},
        "dispute": {"reason_uri": "d"},
        "resolve": {"score": 10, "reason_uri": "a"},
    }
    return Call(action=Action(action), by=by, **{**contents.get(action, {}), **changes})


def do(task: Task, call: Call, at: datetime) -> Step:
    return check(task, call, at, has_applied=call.action in (Action.ASSIGN, Action.ASSIGN_BEST))


@dataclass(frozen=True, kw_only=True)
class Row:
    """A rule: who may make the call in which state, from when until when, and what it does."""

    name: str
    task: Task
    action: str
    who: tuple[str, ...]
    opens: int | None = None
    shuts: int | None = None
    to: str
    money: dict[str, int] = field(default_factory=dict)


ROWS = [
    Row(name="2 apply", task=a_task("open", EVERY_ROLE), action="apply",
        who=("solver", "rival", "nobody"), shuts=3600, to="open"),
    Row(name="3 assign", task=a_task("open", EVERY_ROLE), action="assign",
        who=("ann",), shuts=3600, to="assigned"),
    Row(name="3 assign, by reputation", task=a_task("open", BY_REPUTATION), action="assign_best",
        who=EVERYBODY, opens=900, shuts=3600, to="assigned"),
    Row(name="4 cancel", task=a_task("open", EVERY_ROLE), action="cancel",
        who=("ann",), shuts=3600, to="cancelled", money={"escrow:9": -100, "user:ann": 100}),
    Row(name="5 expire, open", task=a_task("open", EVERY_ROLE), action="expire",
        who=EVERYBODY, opens=3600, to="expired", money={"escrow:9": -100, "user:ann": 100}),
    Row(name="6 submit", task=a_task("assigned", EVERY_ROLE), action="submit_result",
        who=("solver",), shuts=3600, to="submitted"),
    Row(name="7 expire, assigned", task=a_task("assigned", EVERY_ROLE), action="expire",
        who=EVERYBODY, opens=3600, to="expired", money={"escrow:9": -100, "user:ann": 100}),
    Row(name="8 commit", task=a_task("assigned", COMMITTING), action="commit_result",
        who=("solver",), shuts=1800, to="committed"),
    Row(name="9 reveal", task=a_task("committed", COMMITTING), action="submit_result",
        who=("solver",), opens=1800, shuts=3600, to="submitted"),
    Row(name="10 expire, committed", task=a_task("committed", COMMITTING), action="expire",
        who=EVERYBODY, opens=3600, to="expired", money={"escrow:9": -100, "user:ann": 100}),
    Row(name="11 judge and pay", task=a_task("submitted", PLAIN), action="judge",
        who=("jim",), shuts=1600, to="paid", money={"escrow:9": -100, "user:solver": 100}),
    Row(name="12 judge, disputable", task=a_task("submitted", DISPUTABLE), action="judge",
        who=("jim",), shuts=1600, to="judged"),
    Row(name="14 expire, no verdict", task=a_task("submitted", PLAIN), action="expire",
        who=EVERYBODY, opens=1600, to="expired", money={"escrow:9": -100, "user:ann": 100}),
    Row(name="14 expire, after the fallback", task=a_task("submitted", FALLBACK), action="expire",
        who=EVERYBODY, opens=1900, to="expired", money={"escrow:9": -100, "user:ann": 100}),
    Row(name="14 expire, split", task=a_task("submitted", SPLIT), action="expire",
        who=EVERYBODY, opens=1600, to="expired",
        money={"escrow:9": -101, "user:solver": 50, "user:ann": 51}),
    Row(name="15 dispute, passed", task=a_task("judged", DISPUTABLE, score=60), action="dispute",
        who=("ann",), shuts=1220, to="disputed", money={"user:ann": -7, "bond:9": 7}),
    Row(name="15 dispute, failed", task=a_task("judged", DISPUTABLE, score=59), action="dispute",
        who=("solver",), shuts=1220, to="disputed", money={"user:solver": -7, "bond:9": 7}),
    Row(name="16 settle, passed", task=a_task("judged", DISPUTABLE, score=60), action="settle",
        who=EVERYBODY, opens=1220, to="paid", money={"escrow:9": -100, "user:solver": 100}),
    Row(name="16 settle, failed", task=a_task("judged", DISPUTABLE, score=59), action="settle",
        who=EVERYBODY, opens=1220, to="refunded", money={"escrow:9": -100, "user:ann": 100}),
    Row(name="17 resolve, overturned", task=a_task("disputed", DISPUTABLE, score=80),
        action="resolve", who=("art",), shuts=1380, to="refunded",
        money={"escrow:9": -100, "bond:9": -7, "user:ann": 107}),
    Row(name="18 settle, the arbiter silent", task=a_task("disputed", DISPUTABLE, score=80),
        action="settle", who=EVERYBODY, opens=1380, to="paid",
        money={"escrow:9": -100, "bond:9": -7, "user:solver": 100, "user:ann": 7}),
]  # fmt: skip
named = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)


def moved(step: Step) -> dict[str, int]:
    changes: dict[str, int] = {}
    for posting in step.entry.postings if step.entry else ():
        changes[posting.account] = changes.get(posting.account, 0) + posting.amount
    return changes


def inside(row: Row) -> datetime:
    """A moment when the row's window is open."""
    return after(row.opens) if row.opens is not None else after((row.shuts or 3600) - 1)


@named
def test_a_move_is_allowed_within_its_window_and_does_what_the_table_says(row: Row):
    moments = []
    if row.opens is not None:
        moments += [after(row.opens), after(row.opens) + TICK]
    if row.shuts is not None:
        moments += [after(row.shuts) - TICK]
    for at in moments:
        step = do(row.task, a_call(row.action, row.who[0]), at)
        assert step.task.state == row.to
        assert moved(step) == row.money
        assert step.events
        ends = row.to in ("paid", "refunded", "expired", "cancelled")
        assert (step.task.ended_at == at) is ends


@named
def test_a_move_is_refused_before_its_window_opens(row: Row):
    if row.opens is None:
        assert do(row.task, a_call(row.action, row.who[0]), NOON + TICK).task.state == row.to
        return
    with pytest.raises(TooEarly):
        do(row.task, a_call(row.action, row.who[0]), after(row.opens) - TICK)


@named
def test_a_move_is_refused_when_its_window_shuts(row: Row):
    if row.shuts is None:
        late = after(10_000_000)
        assert do(row.task, a_call(row.action, row.who[0]), late).task.state == row.to
        return
    for at in (after(row.shuts), after(row.shuts) + TICK):
        with pytest.raises(TooLate):
            do(row.task, a_call(row.action, row.who[0]), at)


@named
@pytest.mark.parametrize("actor", EVERYBODY)
def test_a_move_is_for_its_role_only(row: Row, actor: str):
    call = a_call(row.action, actor)
    if actor in row.who:
        assert do(row.task, call, inside(row)).task.state == row.to
    else:
        with pytest.raises(WrongRole, match=actor):
            do(row.task, call, inside(row))


@pytest.mark.parametrize("terms", [FALLBACK, EVERY_ROLE], ids=["settles", "disputable"])
def test_row_13_the_fallback_judge_has_the_window_after_the_judge(terms: Terms):
    task = a_task("submitted", terms)
    to = "paid" if terms is FALLBACK else "judged"
    for late in (after(1600), after(1600) + TICK, after(1900) - TICK):
        step = do(task, a_call("judge", "fay"), late)
        assert (step.task.state, step.task.judged_by) == (to, "fay")
        with pytest.raises(TooLate):
            do(task, a_call("judge", "jim"), late)
    with pytest.raises(TooEarly):
        do(task, a_call("judge", "fay"), after(1600) - TICK)
    for later in (after(1900), after(1900) + TICK):
        with pytest.raises(TooLate):
            do(task, a_call("judge", "fay"), later)
    for actor in ("ann", "solver", "rival", "nobody", "art"):
        for at in (after(1500), after(1700)):
            with pytest.raises(WrongRole):
                do(task, a_call("judge", actor), at)


POSSIBLE = {
    ("open", "plain"): {"apply", "assign", "cancel", "expire"},
    ("open", "by reputation"): {"apply", "assign", "assign_best", "cancel", "expire"},
    ("assigned", "plain"): {"submit_result", "expire"},
    ("assigned", "committing"): {"commit_result", "expire"},
    ("committed", "committing"): {"submit_result", "expire"},
    ("submitted", "plain"): {"judge", "expire"},
    ("submitted", "disputable"): {"judge", "expire"},
    ("judged", "disputable"): {"dispute", "settle"},
    ("disputed", "disputable"): {"resolve", "settle"},
}
KINDS = {
    "plain": PLAIN,
    "by reputation": BY_REPUTATION,
    "committing": COMMITTING,
    "disputable": DISPUTABLE,
}
CALLS = [action.value for action in Action if action is not Action.POST]


@pytest.mark.parametrize(("state", "kind"), POSSIBLE, ids=lambda value: str(value))
@pytest.mark.parametrize("action", CALLS)
def test_a_state_has_no_other_moves(state: str, kind: str, action: str):
    if action in POSSIBLE[state, kind]:
        return
    for actor in EVERYBODY:
        for seconds in (1, 1001, 1201, 1700, 3599, 3600, 9000):
            with pytest.raises(WrongState):
                do(a_task(state, KINDS[kind]), a_call(action, actor), after(seconds))


@pytest.mark.parametrize("state", ["paid", "refunded", "expired", "cancelled"])
@pytest.mark.parametrize("action", CALLS)
def test_what_has_ended_stays_as_it_is(state: str, action: str):
    ended = replace(a_task("disputed", EVERY_ROLE), state=TaskState(state), ended_at=after(1300))
    for actor in EVERYBODY:
        for seconds in (1, 1301, 3600, 9000):
            with pytest.raises(WrongState):
                do(ended, a_call(action, actor), after(seconds))


@pytest.mark.parametrize(
    ("score", "to", "receiver"),
    [
        (0, "refunded", "user:ann"),
        (59, "refunded", "user:ann"),
        (60, "paid", "user:solver"),
        (100, "paid", "user:solver"),
    ],
)
def test_sixty_pays_and_fifty_nine_refunds(score: int, to: str, receiver: str):
    at_once = do(a_task("submitted"), a_call("judge", "jim", score=score), after(1100))
    assert (at_once.task.state, moved(at_once)) == (to, {"escrow:9": -100, receiver: 100})
    judged = do(a_task("submitted", DISPUTABLE), a_call("judge", "jim", score=score), after(1100))
    settled = do(judged.task, a_call("settle", "nobody"), after(1220))
    assert (settled.task.state, moved(settled)) == (to, {"escrow:9": -100, receiver: 100})


@pytest.mark.parametrize("score", [-1, 101, True, 60.0, "60", None])
def test_a_score_is_a_whole_number_from_0_to_100(score: object):
    with pytest.raises(BadScore):
        do(a_task("submitted"), a_call("judge", "jim", score=score), after(1100))
    with pytest.raises(BadScore):
        do(a_task("disputed", DISPUTABLE), a_call("resolve", "art", score=score), after(1300))


@pytest.mark.parametrize("named", [OTHER_RESULT, "no cid", "", None])
def test_a_verdict_is_about_the_submitted_result(named: object):
    with pytest.raises(BadContent):
        do(a_task("submitted"), a_call("judge", "jim", result_hash=named), after(1100))


def test_a_result_spelt_in_another_base_is_the_same_result():

    from arena.content.cid import BASE58, parse_cid

    number, letters = int.from_bytes(parse_cid(RESULT).binary, "big"), ""
    while number:
        number, place = divmod(number, 58)
        letters = BASE58[place] + letters
    call = a_call("judge", "jim", result_hash=f"z{letters}")
    assert do(a_task("submitted"), call, after(1100)).task.state == "paid"


@pytest.mark.parametrize("winner", ["rival", "ann", "jim", None])
@pytest.mark.parametrize("score", [0, 100])
def test_a_verdict_names_the_assigned_agent_whatever_the_score(winner: object, score: int):
    with pytest.raises(WrongRole, match="solver"):
        do(a_task("submitted"), a_call("judge", "jim", agent=winner, score=score), after(1100))


def test_what_is_revealed_must_be_what_was_committed_to():
    for shown in ("d" * 64, None):
        call = a_call("submit_result", "solver", commitment=shown)
        with pytest.raises(BadContent, match="commitment"):
            do(a_task("committed", COMMITTING), call, after(1900))


def test_applications_are_taken_once_and_up_to_the_limit():
    task = a_task("open", replace(PLAIN, max_applicants=3))
    assert check(task, a_call("apply", "nobody"), after(1)).task.applicant_count == 3
    with pytest.raises(WrongState, match="already applied"):
        check(task, a_call("apply", "rival"), after(1), has_applied=True)
    with pytest.raises(WrongState, match="full"):
        check(replace(task, applicant_count=3), a_call("apply", "nobody"), after(1))


def test_only_an_applicant_can_be_assigned():
    with pytest.raises(WrongState, match="'nobody' has not applied"):
        check(a_task("open"), a_call("assign", "ann", agent="nobody"), after(1))
    with pytest.raises(WrongState, match="nobody has applied"):
        check(a_task("open", BY_REPUTATION), a_call("assign_best", "ann", agent=None), after(901))


def test_the_first_applicant_is_assigned_under_the_policy_first():
    task = a_task("open", replace(PLAIN, assignment=Assignment.FIRST))
    step = do(task, a_call("apply", "rival"), after(1))
    assert (step.task.state, step.task.agent) == ("assigned", "rival")
    assert [event.kind for event in step.events] == ["Applied", "Assigned"]


@pytest.mark.parametrize(
    ("first", "second", "disputer", "to", "money"),
    [
        # overturned: the poster lost, disputed and won
        (80, 59, "ann", "refunded", {"escrow:9": -100, "bond:9": -7, "user:ann": 107}),
        # upheld: the poster's bond goes to the agent
        (80, 60, "ann", "paid", {"escrow:9": -100, "bond:9": -7, "user:solver": 107}),
        # overturned for the agent
        (10, 60, "solver", "paid", {"escrow:9": -100, "bond:9": -7, "user:solver": 107}),
        # upheld against the agent
        (10, 59, "solver", "refunded", {"escrow:9": -100, "bond:9": -7, "user:ann": 107}),
    ],
)
def test_the_bond_goes_to_the_side_that_won_the_dispute(first, second, disputer, to, money):
    task = a_task("disputed", DISPUTABLE, score=first, disputer=disputer)
    step = do(task, a_call("resolve", "art", score=second), after(1300))
    assert (step.task.state, moved(step), step.task.final_score) == (to, money, second)


def test_a_dispute_without_a_bond_moves_no_money():
    task = a_task("judged", replace(DISPUTABLE, bond=0))
    step = do(task, a_call("dispute", "ann"), after(1150))
    assert (step.task.state, step.entry) == ("disputed", None)
    ended = do(step.task, a_call("settle", "nobody"), after(1330))
    assert moved(ended) == {"escrow:9": -100, "user:solver": 100}


@pytest.mark.parametrize("percent", [1, 33, 50, 99, 100])
@pytest.mark.parametrize("reward", [1, 2, 3, 99, 10**15])
def test_a_split_is_exact(percent: int, reward: int):
    terms = replace(SPLIT, reward=reward, agent_share_percent=percent)
    step = do(a_task("submitted", terms), a_call("expire", "nobody"), after(1600))
    share = (reward * percent - reward * percent % 100) // 100
    assert step.task.payout == share
    assert moved(step).get("user:solver", 0) == share
    assert moved(step).get("user:ann", 0) == reward - share


def reputation(step: Step) -> list[Reputation]:
    """What follows from the events of a step."""
    gained = (gained_reputation(step.task, event.kind) for event in step.events)
    return [one for one in gained if one is not None]


def executions(step: Step, at: datetime) -> list[str]:
    ended = (ended_execution(step.task, event.kind, at) for event in step.events)
    return [one.status for one in ended if one is not None]


def test_what_counts_for_reputation():
    steps = {
        "assign": do(a_task("open"), a_call("assign", "ann"), after(1)),
        "judge": do(a_task("submitted"), a_call("judge", "jim", score=59), after(1100)),
        "no show": do(a_task("assigned"), a_call("expire", "nobody"), after(3600)),
        "no verdict": do(a_task("submitted"), a_call("expire", "nobody"), after(1600)),
        "nobody had it": do(a_task("open"), a_call("expire", "nobody"), after(3600)),
        "only judged": do(a_task("submitted", DISPUTABLE), a_call("judge", "jim"), after(1100)),
    }
    assert {name: reputation(step) for name, step in steps.items()} == {
        "assign": [Reputation(attempts=1)],
        "judge": [Reputation(judged=1, score_sum=59)],
        "no show": [Reputation(no_shows=1)],
        "no verdict": [],
        "nobody had it": [],
        "only judged": [],
    }


def test_what_the_poster_judges_himself_counts_for_nothing():
    terms = replace(PLAIN, is_self_judged=True)
    steps = [
        do(a_task("open", terms), a_call("assign", "ann"), after(1)),
        do(a_task("submitted", terms), a_call("judge", "ann"), after(1100)),
        do(a_task("assigned", terms), a_call("expire", "nobody"), after(3600)),
    ]
    assert [reputation(step) for step in steps] == [[], [], []]
    assert steps[1].task.state == "paid"
    with pytest.raises(WrongRole):
        do(a_task("submitted", terms), a_call("judge", "jim"), after(1100))


@pytest.mark.parametrize(
    ("state", "action", "by", "at", "ended"),
    [
        ("assigned", "submit_result", "solver", 1000, ["completed"]),
        ("assigned", "expire", "ann", 3600, ["timeout"]),
        ("open", "expire", "ann", 3600, []),
        ("submitted", "expire", "ann", 1600, []),
    ],
)
def test_an_execution_ends_with_the_submission_or_the_deadline(
    state: str, action: str, by: str, at: int, ended: list[str]
):
    step = do(a_task(state), a_call(action, by), after(at))
    assert executions(step, after(at)) == ended


def test_an_error_says_what_is_possible():
    with pytest.raises(WrongState, match="task 9 is assigned, judge is not possible; possible: "):
        do(a_task("assigned"), a_call("judge", "jim"), after(1))
    with pytest.raises(TooLate, match=r"was possible before 2026-03-01T13:00:00\+00:00"):
        do(a_task("open"), a_call("cancel", "ann"), after(3600))
