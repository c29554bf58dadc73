"""How runs share workers, and workers the limits of an agent, when nothing goes wrong."""

import time
from collections.abc import Callable, Sequence

from cluster.checks import check_limits, check_run
from cluster.cluster import Agent, Cluster
from cluster.questions import Asked, asked_again
from cluster.rounds import Outcome

WORKERS = 3
MOST_SLOWER = 1.5
"""How much longer a run may take beside another one that waits for its agent."""
USED_GOAL, LEAST_USED = 0.9, 0.75
"""How much of what an agent allows should be used, and must be also on a busy machine."""

Say = Callable[[str], None]


def fairness(say: Say) -> Outcome:
    """A run of an agent that allows one question at once must not hold up another run."""
    single = Agent(name="single", seconds=0.5, tests=400, at_once=1)
    quick = Agent(name="quick", seconds=0.1, tests=600, at_once=10)
    outcome, began = Outcome(name="fairness"), time.monotonic()
    with Cluster([single, quick]) as cluster:
        for _ in range(WORKERS):
            cluster.start_worker()
        cluster.wait([cluster.submit("quick")])  # makes connections and plans
        alone = cluster.submit("quick")
        cluster.wait([alone])
        slow = cluster.submit("single")
        beside = cluster.submit("quick")
        cluster.wait([beside])
        cluster.cancel(slow)
        ratio = cluster.seconds_of(beside) / cluster.seconds_of(alone)
        say(f"a run takes {ratio:.2f} x as long beside one that waits (goal: {MOST_SLOWER})")
        if ratio > MOST_SLOWER:
            outcome.problems.append(f"a run took {ratio:.2f} x as long beside another one")
        _check(cluster, [alone, beside], outcome)
    outcome.seconds = time.monotonic() - began
    return outcome


def used(say: Say) -> Outcome:
    """Workers together use what an agent allows, and not more."""
    eight = Agent(name="eight", seconds=0.3, tests=400, at_once=8)
    outcome, began = Outcome(name="limit used"), time.monotonic()
    with Cluster([eight]) as cluster:
        for _ in range(WORKERS):
            cluster.start_worker()
        # Two runs: each has as many lanes as its agent allows, and together they want more.
        runs = [cluster.submit("eight"), cluster.submit("eight")]
        cluster.wait(runs)
        asked = cluster.questions.log()
        part = _used(asked) / eight.at_once
        say(f"{part:.0%} of 8 questions at once are used (goal: {USED_GOAL:.0%})")
        if part < LEAST_USED:
            outcome.problems.append(f"only {part:.0%} of what the agent allows was used")
        outcome.problems += check_limits(eight, asked, ())
        _check(cluster, runs, outcome)
    outcome.seconds = time.monotonic() - began
    return outcome


def _used(asked: Sequence[Asked]) -> float:
    """How many questions were open on average, without the first and the last tenth of the time."""
    begin, end = min(one.begin for one in asked), max(one.end for one in asked)
    first, last = begin + (end - begin) / 10, end - (end - begin) / 10
    busy = sum(max(min(one.end, last) - max(one.begin, first), 0) for one in asked)
    return busy / (last - first)


def _check(cluster: Cluster, runs: list[str], outcome: Outcome) -> None:
    asked = cluster.questions.log()
    outcome.runs, outcome.questions = len(runs), len(asked)
    outcome.asked_twice = asked_again(asked)
    for run_id in runs:
        checked = check_run(cluster.postgres, run_id)
        outcome.lost += checked.lost
        outcome.doubled += checked.doubled
        outcome.problems += checked.problems
