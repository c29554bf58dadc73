"""Random histories of agents, run through Arena and scored by a naive reference implementation.

The reference shares no code with Arena: it keeps all events in lists, counts with fractions and
rounds once, as docs/scoring.md says. Arena must show the same results.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID, uuid5

from hypothesis import strategies as st

from arena import clock
from arena.assembly import Arena
from arena.catalog.suite import KnownVersion
from arena.catalog.test import Test
from arena.runs.item import Executed
from arena.runs.records.lease import claim
from arena.runs.records.results import add_results
from arena.runs.records.runs import NewRun, cancel_run, create_run, finish
from arena.scoring.history import Execution, ExecutionStatus, Source, Subject
from factories import a_test, executed

TOKEN = "executor"
STATUSES = [status.value for status in ExecutionStatus]
CATEGORIES = ("navigation", "detection")
WEIGHTS = {
    "benchmark": Fraction(4, 10),
    "user_rating": Fraction(3, 10),
    "success_rate": Fraction(2, 10),
    "cost_efficiency": Fraction(1, 10),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Who:
    team: str
    agent: str
    version: str

    def subject(self, era: str) -> Subject:
        """The same agent in a separate era: eras never share a team in the database."""
        return Subject(team_id=f"{era}-{self.team}", agent_id=self.agent, version=self.version)


@dataclass(frozen=True, slots=True, kw_only=True)
class Voted:
    who: Who
    user: str
    about: str | None
    rating: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    team: str
    executions: tuple[tuple[str, str, str], ...]
    """Agent, version, status."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    status: str
    passed: bool
    tokens: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    points: Decimal
    budget: int
    category: str
    tags: tuple[str, ...]
    trials: tuple[Outcome, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    who: Who
    is_full: bool
    tests: tuple[Asked, ...]
    ending: str
    """completed, failed (one result is missing), cancelled or running."""


Step = Voted | Reported | Ran

whos = st.builds(
    Who,
    team=st.sampled_from(["red", "blue"]),
    agent=st.sampled_from(["a", "a-b", "b"]),
    version=st.sampled_from(["1.0.0", "1.1.0"]),
)
votes = st.builds(
    Voted,
    who=whos,
    user=st.sampled_from(["ann", "bob", "cid"]),
    about=st.sampled_from([None, None, "one", "two"]),
    rating=st.integers(1, 5),
)
reports = st.builds(
    Reported,
    team=st.sampled_from(["red", "blue"]),
    executions=st.lists(
        st.tuples(
            st.sampled_from(["a", "a-b", "b"]),
            st.sampled_from(["1.0.0", "1.1.0"]),
            st.sampled_from(STATUSES),
        ),
        min_size=1,
        max_size=4,
    ).map(tuple),
)


@st.composite
def outcomes(draw: st.DrawFn) -> Outcome:
    status = draw(st.sampled_from(["completed"] * 5 + ["failed", "timeout"]))
    passed = status == "completed" and draw(st.sampled_from([True, True, False]))
    tokens = draw(st.none() | st.integers(0, 9000) if passed else st.none())
    return Outcome(status=status, passed=passed, tokens=tokens)


@st.composite
def runs(draw: st.DrawFn) -> Ran:
    # Mostly as many for every test, as with --trials; else as the tests say.
    fewest, most = draw(st.sampled_from([(1, 1), (2, 2), (3, 3), (1, 3)]))
    tests = st.builds(
        Asked,
        points=st.sampled_from([Decimal(text) for text in ("0.1", "0.3", "1", "1.5", "7")]),
        budget=st.integers(1, 5000),
        category=st.sampled_from(CATEGORIES),
        tags=st.sets(st.sampled_from(["slow", "new"])).map(lambda tags: tuple(sorted(tags))),
        trials=st.lists(outcomes(), min_size=fewest, max_size=most).map(tuple),
    )
    return Ran(
        who=draw(whos),
        is_full=draw(st.sampled_from([True] * 5 + [False])),
        tests=tuple(draw(st.lists(tests, min_size=1, max_size=5))),
        ending=draw(st.sampled_from(["completed"] * 5 + ["failed", "cancelled", "running"])),
    )


histories = st.lists(votes | votes | reports | runs() | runs(), min_size=3, max_size=14)


def a_run(
    agent: str,
    passed: str,
    *,
    version: str = "1.0.0",
    team: str = "red",
    tokens: int | None = None,
    **keys: Any,
) -> Ran:
    """A full run with a test for each sign, `+` or `-`; with spaces between them, for each word."""
    groups = passed.split() if " " in passed else list(passed)
    tests = tuple(
        Asked(
            points=Decimal(1),
            budget=1000,
            category="navigation",
            tags=(),
            trials=tuple(
                Outcome(status="completed", passed=sign == "+", tokens=tokens) for sign in group
            ),
        )
        for group in groups
    )
    who = Who(team=team, agent=agent, version=version)
    return Ran(**{"who": who, "is_full": True, "tests": tests, "ending": "completed", **keys})


async def drive(house: Arena, era: str, steps: Sequence[Step]) -> list[UUID | None]:
    """Apply a history; returns the run id of each step that is a run."""
    return [await _happen(house, era, number, step) for number, step in enumerate(steps)]


async def _happen(house: Arena, era: str, number: int, step: Step) -> UUID | None:
    match step:
        case Voted():
            about = uuid5(UUID(int=0), step.about) if step.about else None
            await house.scores.submit_feedback(
                step.who.subject(era), rating=step.rating, user_id=step.user, execution_id=about
            )
        case Reported():
            batch = [
                (
                    Who(team=step.team, agent=agent, version=version).subject(era),
                    reported(status, key=f"{number}-{place}"),
                )
                for place, (agent, version, status) in enumerate(step.executions)
            ]
            for _ in range(2):  # the second time it is a duplicate
                await house.scores.report_executions(f"{era}-{step.team}", batch)
        case Ran():
            return await run(house, era, step)
    return None


def reported(status: str, key: str | None = None) -> Execution:
    return Execution(
        status=ExecutionStatus(status),
        source=Source.REPORTED,
        created_at=clock.now(),
        idempotency_key=key,
    )


async def run(house: Arena, era: str, step: Ran) -> UUID:
    """A run as the engine writes it, without calling an agent."""
    subject, database = step.who.subject(era), house.database
    tests = [
        a_test(
            id=f"t{number}",
            prompt=f"Say it {number}",
            points=float(test.points),
            budget_tokens=test.budget,
            category=test.category,
            tags=test.tags,
            trials=len(test.trials),
        )
        for number, test in enumerate(step.tests)
    ]
    new = NewRun(
        team_id=subject.team_id,
        agent_id=subject.agent_id,
        agent_version=subject.version,
        is_full=step.is_full,
    )
    suite = KnownVersion(name="history", fingerprints={one.id: one.fingerprint for one in tests})
    # One board for all steps, though each has its own tests: the reference knows no versions.
    suite.__dict__.update(version="0" * 64)
    run_id = (await create_run(database, new, tests, suite)).id
    await claim(database, run_id, TOKEN)
    results = _results(step, tests)
    if step.ending != "completed":
        results = results[1:]
    middle = len(results) // 2
    for batch in (results[:middle], results[middle:]):
        if batch:
            await add_results(database, run_id, TOKEN, batch)
    if step.ending in ("completed", "failed"):
        ended = await finish(database, run_id, TOKEN, "no way there")
        assert ended.status == step.ending
    elif step.ending == "cancelled":
        await cancel_run(database, run_id, subject.team_id)
    return run_id


def _results(step: Ran, tests: Sequence[Test]) -> list[Executed]:
    return [
        executed(
            tests[number],
            test_id=f"t{number}",
            trial=trial,
            category=test.category,
            status=ExecutionStatus(outcome.status),
            passed=outcome.passed,
            points_earned=float(test.points) if outcome.passed else 0.0,
            points_possible=float(test.points),
            input_tokens=outcome.tokens,
            output_tokens=outcome.tokens and 0,
        )
        for number, test in enumerate(step.tests)
        for trial, outcome in enumerate(test.trials, start=1)
    ]


@dataclass(slots=True)
class Tally:
    """Everything that happened to one agent version."""

    votes: dict[tuple[str, str | None], int] = field(default_factory=dict)
    executions: list[str] = field(default_factory=list)
    latest: tuple[int, Ran] | None = None
    """The latest full run and the number of its step."""


def tallies(steps: Sequence[Step]) -> dict[Who, Tally]:
    """The tally of every agent version after a history."""
    known: dict[Who, Tally] = {}
    for number, step in enumerate(steps):
        if isinstance(step, Voted):
            known.setdefault(step.who, Tally()).votes[step.user, step.about] = step.rating
        elif isinstance(step, Reported):
            for agent, version, status in step.executions:
                who = Who(team=step.team, agent=agent, version=version)
                known.setdefault(who, Tally()).executions.append(status)
        else:
            statuses = [outcome.status for test in step.tests for outcome in test.trials]
            if step.ending != "completed":
                statuses = statuses[1:]
            # A run changes the boards when it ends.
            if statuses and step.ending != "running":
                known.setdefault(step.who, Tally()).executions += statuses
            if step.ending == "completed" and step.is_full:
                known.setdefault(step.who, Tally()).latest = (number, step)
    return known


def scores(tally: Tally, category: str | None = None) -> dict[str, Any]:
    """The scores of a tally by the names of the API; with a category only its tests count."""
    tests = tally.latest[1].tests if tally.latest else ()
    if category:
        tests = tuple(test for test in tests if test.category == category)
    stars = list(tally.votes.values())
    shares = {
        "benchmark": _benchmark(tests, tally.latest[1].tests if tally.latest else ()),
        "user_rating": (Fraction(sum(stars), len(stars)) - 1) * 25 if stars else None,
        "success_rate": _share(tally.executions.count("completed"), len(tally.executions)),
        "cost_efficiency": _efficiency(tests),
    }
    parts = {name: None if share is None else _cents(share) for name, share in shares.items()}
    weight = sum((WEIGHTS[name] for name, part in parts.items() if part is not None), Fraction(0))
    weighed = sum(
        (WEIGHTS[name] * Fraction(part) for name, part in parts.items() if part is not None),
        Fraction(0),
    )
    named = {f"{name}_score": None if part is None else float(part) for name, part in parts.items()}
    return {
        **named,
        "overall_score": float(_cents(weighed / weight)) if weight else None,
        "coverage": float(weight),
        "provisional": weight < 1,
        "avg_user_rating": float(_cents(Fraction(sum(stars), len(stars)))) if stars else None,
        "feedback_count": len(stars),
        "execution_count": len(tally.executions),
    }


def _benchmark(tests: Sequence[Asked], run: Sequence[Asked]) -> Fraction | None:
    """The mean pass rate of the tests: every test weighs the same."""
    rates = [Fraction(sum(o.passed for o in test.trials), len(test.trials)) for test in tests]
    if len({len(test.trials) for test in run}) > 1:
        rates = [Fraction(_rounded(rate * 1_000_000, 0)) / 1_000_000 for rate in rates]
    return 100 * sum(rates, Fraction(0)) / len(rates) if rates else None


def _efficiency(tests: Sequence[Asked]) -> Fraction | None:
    kept = possible = 0
    for test in tests:
        for outcome in test.trials:
            if outcome.passed and outcome.tokens is not None:
                whole = int(test.points * 1_000_000)
                share = min(Fraction(1), Fraction(test.budget, max(outcome.tokens, 1)))
                kept += int(_rounded(share * whole, 0))
                possible += whole
    return _share(kept, possible)


def _share(part: int, whole: int) -> Fraction | None:
    return Fraction(100 * part, whole) if whole else None


def _cents(value: Fraction) -> Decimal:
    return _rounded(value, 2)


def _rounded(value: Fraction, places: int) -> Decimal:
    scaled = value * 10**places
    # Halves round up; nothing here is negative.
    whole = (2 * scaled.numerator + scaled.denominator) // (2 * scaled.denominator)
    return Decimal(whole).scaleb(-places).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
