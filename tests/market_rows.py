"""The table of moves as cases: the same for every ledger (rows as in docs/market.md).

Times are whole seconds after the start, so that "one tick before" is a second on a chain and in the
embedded ledger. The times of a case are written out, not computed from the terms.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from arena.market.task import Assignment, TimeoutPolicy

REWARD = 101
"""Odd, so that a split has a rest."""
BOND = 30
FUNDS = 1000
DAY = 86_400
PARTIES = ("ann", "bob", "solver", "rival", "third", "jim", "fay", "art", "nobody")
AGENTS = ("solver", "rival", "third")
SIGNED = ("apply", "commit", "submit")
"""Acts that only agents with a key can attempt."""

COMMITTING = {"commit_deadline": 500}
DISPUTABLE = {
    "dispute_window_seconds": 80,
    "arbiter": "art",
    "arbiter_window_seconds": 70,
    "bond": BOND,
}
FALLBACK = {"fallback_judge": "fay", "fallback_window_seconds": 60}
SPLIT = {"timeout_policy": TimeoutPolicy.SPLIT, "agent_share_percent": 33}

# How a state is reached: (second, action, by, arguments) after the posting at second 0.
APPLIED = [(1, "apply", "solver", {})]
ASSIGNED = [*APPLIED, (2, "assign", "ann", {})]
COMMITTED = [*ASSIGNED, (5, "commit", "solver", {})]
SUBMITTED = [*ASSIGNED, (10, "submit", "solver", {})]
REVEALED = [*COMMITTED, (500, "submit", "solver", {"salt": "salt"})]
JUDGED = [*SUBMITTED, (20, "judge", "jim", {"score": 60})]
FAILED = [*SUBMITTED, (20, "judge", "jim", {"score": 59})]
DISPUTED = [*JUDGED, (30, "dispute", "ann", {})]
CONTESTED = [*FAILED, (30, "dispute", "solver", {})]


@dataclass(frozen=True, kw_only=True)
class Row:
    """A move that is allowed: from where, who, when, and what it does."""

    row: int
    state: str
    path: list[Any] = field(default_factory=list)
    action: str
    by: str
    opens: int | None = None
    closes: int | None = None
    to: str
    pays: Mapping[str, int] = field(default_factory=dict)
    """How the parties' money changes."""
    terms: Mapping[str, Any] = field(default_factory=dict)
    args: Mapping[str, Any] = field(default_factory=dict)
    is_for_anyone: bool = False

    def __str__(self) -> str:
        return f"{self.row}: {self.action} when {self.state}, to {self.to}"

    @property
    def inside(self) -> int:
        """A time within the window."""
        if self.opens is not None:
            return self.opens
        assert self.closes is not None
        return self.closes - 1

    @property
    def moments(self) -> list[tuple[int, str | None]]:
        """The times around the edges of the window, and the error that each gives."""
        times: list[tuple[int, str | None]] = []
        if self.opens is not None:
            times += [(self.opens - 1, "TooEarly"), (self.opens, None), (self.opens + 1, None)]
        if self.closes is not None:
            times += [(self.closes - 1, None), (self.closes, "TooLate")]
            times += [(self.closes + 1, "TooLate")]
        return times

    @property
    def strangers(self) -> dict[str, str]:
        """Everybody else who could try it, and the error that each gets."""
        if self.is_for_anyone or self.action == "apply":
            return {}
        candidates = AGENTS if self.action in SIGNED else PARTIES
        errors = {name: "WrongRole" for name in candidates if name != self.by}
        if self.row == 13:
            errors["jim"] = "TooLate"  # the judge, who has missed its own window
        return errors


def _anyone(**named: Any) -> Row:
    return Row(by="nobody", is_for_anyone=True, **named)


def _judging() -> list[Row]:
    """Rows 11, 12 and 13: by the judge and the fallback judge, with and without disputes."""
    rows: list[Row] = []
    for score in (0, 59, 60, 100):
        is_passed = score >= 60
        money = {"solver" if is_passed else "ann": REWARD}
        end = "paid" if is_passed else "refunded"
        for terms, to, pays in (({}, end, money), (DISPUTABLE, "judged", {})):
            same: Any = {"state": "submitted", "path": SUBMITTED, "action": "judge", "to": to}
            same |= {"args": {"score": score}, "pays": pays}
            rows.append(Row(row=12 if terms else 11, by="jim", closes=110, terms=terms, **same))
            if score in (0, 100):
                continue
            both = {**terms, **FALLBACK}
            rows.append(Row(row=13, by="fay", opens=110, closes=170, terms=both, **same))
    return rows


# fmt: off
ROWS: list[Row] = [
    Row(row=2, state="open", action="apply", by="solver", closes=1000, to="open"),
    Row(row=2, state="open", action="apply", by="solver", closes=1000, to="assigned",
        terms={"assignment": Assignment.FIRST}),
    Row(row=3, state="open", path=APPLIED, action="assign", by="ann", closes=1000, to="assigned"),
    Row(row=4, state="open", path=APPLIED, action="cancel", by="ann", closes=1000, to="cancelled",
        pays={"ann": REWARD}),
    _anyone(row=5, state="open", path=APPLIED, action="expire", opens=1000, to="expired",
            pays={"ann": REWARD}),
    Row(row=6, state="assigned", path=ASSIGNED, action="submit", by="solver", closes=1000,
        to="submitted"),
    _anyone(row=7, state="assigned", path=ASSIGNED, action="expire", opens=1000, to="expired",
            pays={"ann": REWARD}),
    Row(row=8, state="assigned", path=ASSIGNED, action="commit", by="solver", closes=500,
        to="committed", terms=COMMITTING),
    Row(row=9, state="committed", path=COMMITTED, action="submit", by="solver", opens=500,
        closes=1000, to="submitted", terms=COMMITTING, args={"salt": "salt"}),
    _anyone(row=10, state="committed", path=COMMITTED, action="expire", opens=1000, to="expired",
            terms=COMMITTING, pays={"ann": REWARD}),
    *_judging(),
    Row(row=11, state="submitted", path=REVEALED, action="judge", by="jim", closes=600, to="paid",
        terms=COMMITTING, args={"score": 60}, pays={"solver": REWARD}),
    Row(row=11, state="submitted", path=SUBMITTED, action="judge", by="ann", closes=110, to="paid",
        terms={"judge": "ann", "is_self_judged": True}, args={"score": 100},
        pays={"solver": REWARD}),
    _anyone(row=14, state="submitted", path=SUBMITTED, action="expire", opens=110, to="expired",
            pays={"ann": REWARD}),
    _anyone(row=14, state="submitted", path=SUBMITTED, action="expire", opens=170, to="expired",
            terms={**FALLBACK, **SPLIT}, pays={"solver": 33, "ann": 68}),
    _anyone(row=14, state="submitted", path=SUBMITTED, action="expire", opens=110, to="expired",
            terms={**SPLIT, "agent_share_percent": 100}, pays={"solver": REWARD}),
    Row(row=15, state="judged", path=JUDGED, action="dispute", by="ann", closes=100,
        to="disputed", terms=DISPUTABLE, pays={"ann": -BOND}),
    Row(row=15, state="judged", path=FAILED, action="dispute", by="solver", closes=100,
        to="disputed", terms=DISPUTABLE, pays={"solver": -BOND}),
    Row(row=15, state="judged", path=JUDGED, action="dispute", by="ann", closes=100,
        to="disputed", terms={**DISPUTABLE, "bond": 0}),
    _anyone(row=16, state="judged", path=JUDGED, action="settle", opens=100, to="paid",
            terms=DISPUTABLE, pays={"solver": REWARD}),
    _anyone(row=16, state="judged", path=FAILED, action="settle", opens=100, to="refunded",
            terms=DISPUTABLE, pays={"ann": REWARD}),
    # The verdict is upheld, then overturned; for each of the two who can dispute.
    Row(row=17, state="disputed", path=DISPUTED, action="resolve", by="art", closes=100, to="paid",
        terms=DISPUTABLE, args={"score": 60}, pays={"solver": REWARD + BOND}),
    Row(row=17, state="disputed", path=DISPUTED, action="resolve", by="art", closes=100,
        to="refunded", terms=DISPUTABLE, args={"score": 59}, pays={"ann": REWARD + BOND}),
    Row(row=17, state="disputed", path=CONTESTED, action="resolve", by="art", closes=100,
        to="refunded", terms=DISPUTABLE, args={"score": 0}, pays={"ann": REWARD + BOND}),
    Row(row=17, state="disputed", path=CONTESTED, action="resolve", by="art", closes=100,
        to="paid", terms=DISPUTABLE, args={"score": 100}, pays={"solver": REWARD + BOND}),
    _anyone(row=18, state="disputed", path=DISPUTED, action="settle", opens=100, to="paid",
            terms=DISPUTABLE, pays={"solver": REWARD, "ann": BOND}),
    _anyone(row=18, state="disputed", path=CONTESTED, action="settle", opens=100, to="refunded",
            terms=DISPUTABLE, pays={"ann": REWARD, "solver": BOND}),
]
# fmt: on

ENDED = {
    "paid": [*SUBMITTED, (20, "judge", "jim", {"score": 60})],
    "refunded": [*SUBMITTED, (20, "judge", "jim", {"score": 59})],
    "expired": [*SUBMITTED, (110, "expire", "nobody", {})],
    "cancelled": [(1, "cancel", "ann", {})],
}
STATES: dict[str, tuple[str, Mapping[str, Any], list[Any]]] = {
    "open": ("open", {}, APPLIED),
    "assigned": ("assigned", {}, ASSIGNED),
    "assigned, committing": ("assigned", COMMITTING, ASSIGNED),
    "committed": ("committed", COMMITTING, COMMITTED),
    "submitted": ("submitted", {}, SUBMITTED),
    "judged": ("judged", DISPUTABLE, JUDGED),
    "disputed": ("disputed", DISPUTABLE, DISPUTED),
    **{state: (state, {}, path) for state, path in ENDED.items()},
}
"""Every state, with terms and a path that lead to it."""
POSSIBLE = {
    "open": {"apply", "assign", "cancel", "expire"},
    "assigned": {"submit", "expire"},
    "assigned, committing": {"commit", "expire"},
    "committed": {"submit", "expire"},
    "submitted": {"judge", "expire"},
    "judged": {"dispute", "settle"},
    "disputed": {"resolve", "settle"},
}
"""The actions of each state; every other is refused with WrongState, whoever tries it."""
ACTIONS = (
    "apply",
    "assign",
    "cancel",
    "commit",
    "submit",
    "judge",
    "dispute",
    "resolve",
    "settle",
    "expire",
)
RIGHTFUL = {
    "apply": "rival",
    "assign": "ann",
    "cancel": "ann",
    "commit": "solver",
    "submit": "solver",
    "judge": "jim",
    "dispute": "ann",
    "resolve": "art",
    "settle": "nobody",
    "expire": "nobody",
}
"""Who could do it if the state allowed it."""


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """A call in the right state by the right party in time, with something wrong in it."""

    name: str
    path: list[Any]
    action: str
    by: str
    error: str
    terms: Mapping[str, Any] = field(default_factory=dict)
    args: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.name


def _refused(name: str, path: list[Any], action: str, by: str, error: str, **more: Any) -> Refusal:
    return Refusal(name=name, path=path, action=action, by=by, error=error, **more)


FULL = [(1, "apply", "rival", {})]
REFUSALS: list[Refusal] = [
    _refused("applies again", APPLIED, "apply", "solver", "WrongState"),
    _refused("one too many", FULL, "apply", "solver", "WrongState", terms={"max_applicants": 1}),
    *[
        _refused(f"applies as {role}", [], "apply", "third", "WrongRole", terms=terms)
        for role, terms in {
            "poster": {"poster": "third"},
            "judge": {"judge": "third"},
            "fallback judge": {**FALLBACK, "fallback_judge": "third"},
            "arbiter": {**DISPUTABLE, "arbiter": "third"},
        }.items()
    ],
    _refused(
        "assigned without an application",
        APPLIED,
        "assign",
        "ann",
        "WrongState",
        args={"agent": "rival"},
    ),
    _refused(
        "reveals with another salt",
        [*COMMITTED, (500, "wait", "", {})],
        "submit",
        "solver",
        "BadContent",
        terms=COMMITTING,
        args={"salt": "pepper"},
    ),
    _refused(
        "reveals another result",
        [*COMMITTED, (500, "wait", "", {})],
        "submit",
        "solver",
        "BadContent",
        terms=COMMITTING,
        args={"salt": "salt", "result": "two"},
    ),
    *[
        _refused(
            f"a verdict of {score}", SUBMITTED, "judge", "jim", "BadScore", args={"score": score}
        )
        for score in (-1, 101)
    ],
    *[
        _refused(
            f"a resolution of {score}",
            DISPUTED,
            "resolve",
            "art",
            "BadScore",
            terms=DISPUTABLE,
            args={"score": score},
        )
        for score in (-1, 101)
    ],
    _refused(
        "a verdict for another agent",
        SUBMITTED,
        "judge",
        "jim",
        "WrongRole",
        args={"winner": "rival", "score": 100},
    ),
    _refused(
        "a verdict on another result",
        SUBMITTED,
        "judge",
        "jim",
        "BadContent",
        args={"result": "two"},
    ),
    _refused(
        "disputes without the bond",
        JUDGED,
        "dispute",
        "ann",
        "InsufficientFunds",
        terms={**DISPUTABLE, "bond": FUNDS + 1},
    ),
]

TERMS_REFUSED: list[tuple[Mapping[str, Any], str]] = [
    # Parties.
    ({"judge": "ann"}, "WrongRole"),
    ({"is_self_judged": True}, "WrongRole"),
    ({**FALLBACK, "fallback_judge": "ann"}, "WrongRole"),
    ({**FALLBACK, "fallback_judge": "jim"}, "WrongRole"),
    ({**DISPUTABLE, "arbiter": "ann"}, "WrongRole"),
    ({**DISPUTABLE, "arbiter": "jim"}, "WrongRole"),
    ({**DISPUTABLE, **FALLBACK, "arbiter": "fay"}, "WrongRole"),
    ({**DISPUTABLE, "judge": "ann", "is_self_judged": True, "arbiter": "ann"}, "WrongRole"),
    # Times.
    ({"deadline": 0}, "InvalidInput"),
    ({"deadline": -1}, "InvalidInput"),
    ({"deadline": 366 * DAY + 1}, "InvalidInput"),
    ({"commit_deadline": 0}, "InvalidInput"),
    ({"commit_deadline": 1000}, "InvalidInput"),
    # Windows.
    ({"judge_window_seconds": 59}, "InvalidInput"),
    ({"judge_window_seconds": 30 * DAY + 1}, "InvalidInput"),
    ({**FALLBACK, "fallback_window_seconds": 59}, "InvalidInput"),
    ({**FALLBACK, "fallback_window_seconds": 0}, "InvalidInput"),
    ({"fallback_window_seconds": 60}, "InvalidInput"),
    ({**DISPUTABLE, "dispute_window_seconds": 59}, "InvalidInput"),
    ({**DISPUTABLE, "dispute_window_seconds": 30 * DAY + 1}, "InvalidInput"),
    ({**DISPUTABLE, "arbiter_window_seconds": 59}, "InvalidInput"),
    ({**DISPUTABLE, "arbiter_window_seconds": 0}, "InvalidInput"),
    ({**DISPUTABLE, "arbiter": None}, "InvalidInput"),
    ({"arbiter": "art"}, "InvalidInput"),
    ({"arbiter_window_seconds": 60}, "InvalidInput"),
    ({"bond": 1}, "InvalidInput"),
    # Numbers.
    ({"reward": 0}, "InvalidInput"),
    ({**SPLIT, "agent_share_percent": 101}, "InvalidInput"),
    ({"max_applicants": 0}, "InvalidInput"),
    ({"max_applicants": 1001}, "InvalidInput"),
    # The first problem that is found: parties before times and windows.
    ({"judge": "ann", "deadline": 0, "judge_window_seconds": 0}, "WrongRole"),
    ({"reward": FUNDS + 1}, "InsufficientFunds"),
    ({"reward": FUNDS + 1, "deadline": 0}, "InvalidInput"),
]
"""Row 1: changed terms of a posting by ann at second 0, and the error."""

TERMS_ACCEPTED: list[Mapping[str, Any]] = [
    {},
    {"judge": "ann", "is_self_judged": True},
    {"deadline": 1},
    {"deadline": 366 * DAY},
    {"commit_deadline": 1},
    {"commit_deadline": 999},
    {"judge_window_seconds": 60},
    {"judge_window_seconds": 30 * DAY},
    {**FALLBACK, "fallback_window_seconds": 30 * DAY},
    {**DISPUTABLE, "dispute_window_seconds": 60, "arbiter_window_seconds": 30 * DAY, "bond": 0},
    {**DISPUTABLE, "dispute_window_seconds": 30 * DAY, "arbiter_window_seconds": 60},
    {**SPLIT, "agent_share_percent": 1},
    {**SPLIT, "agent_share_percent": 100},
    {"max_applicants": 1},
    {"max_applicants": 1000},
    {"reward": FUNDS},
    {"assignment": Assignment.FIRST},
    {**COMMITTING, **FALLBACK, **DISPUTABLE, **SPLIT},
]
