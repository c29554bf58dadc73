"""Faults of every kind while workers execute runs: nothing may be lost, and nothing doubled.

    make drills          or: python benchmarks/drills.py [--short] [--seed N] [--only ROUND]...

Starts PostgreSQL, a server and workers, keeps runs going, injects faults at random moments, and
then compares every run with its results and every agent's log of questions with its limits. Prints
the seed: `make drills SEED=N` repeats the same faults, although not the same moments of the
machine. Kinds that this machine cannot play (namespaces need root) are left out, and named.

Ends with code 1 if anything was lost or doubled, a limit was exceeded, a run did not complete, or a
takeover took longer than the goal.
"""

import argparse
import random
import shutil
import sys
from collections.abc import Sequence
from functools import partial

from cluster.cluster import Agent
from cluster.fleet import possible_kinds
from cluster.network import leave_network
from cluster.rounds import HEAD, Outcome, Plan, play
from cluster.sharing import fairness, used

TAKEOVER_SECONDS = 8.0
NEEDS = {"network": "network", "disk": "disk", "clock": "clock"}
"""The kind of machine that a fault needs."""
LONG = {
    "kill": 60,
    "takeover": 20,
    "server": 20,
    "stop": 24,
    "stall": 10,
    "hand back": 40,
    "database": 20,
    "connections": 40,
    "network": 16,
    "disk": 16,
    "clock": 24,
    "queue": 12,
    "cancel": 20,
    "release": 3,
}
"""How often each kind of fault is injected in its round."""
MIXED = 60
"""Faults of a round with all kinds."""
LIMITS = 12
"""Kills while agents are asked as often as they allow."""
SHORT = {
    "kill": 6,
    "server": 2,
    "stop": 2,
    "stall": 1,
    "hand back": 4,
    "database": 2,
    "connections": 9,
    "network": 2,
    "disk": 2,
    "clock": 4,
    "queue": 1,
    "cancel": 3,
    "release": 1,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="one round with some of each kind")
    parser.add_argument("--seed", type=int, help="of the faults; the one that was printed")
    parser.add_argument("--only", action="append", help="a round; can be given several times")
    parser.add_argument("--faults", type=int, help="in each round, instead of its own number")
    options = parser.parse_args()
    seed = options.seed or random.SystemRandom().randrange(1, 10**6)
    machines = possible_kinds()
    if "network" in machines:
        leave_network()
    print(f"SEED={seed}; machines: {', '.join(machines)}", flush=True)
    for kind, needed in NEEDS.items():
        if needed not in machines:
            print(f"left out, because this machine cannot play it: {kind}")
    plans = short(machines, seed) if options.short else long(machines, seed, options.faults)
    rounds = {plan.name: partial(play, plan, seed, say) for plan in plans}
    if not options.short:
        rounds |= {"fairness": partial(fairness, say), "limit used": partial(used, say)}
    outcomes: list[Outcome] = []
    for name, play_round in rounds.items():
        if not options.only or name in options.only:
            print(f"\nround {name}", flush=True)
            outcomes.append(play_round())
            print(HEAD, outcomes[-1].row, *outcomes[-1].problems, sep="\n", flush=True)
    sys.exit(report(outcomes, is_timed=not options.short))


def say(text: str) -> None:
    print(text, flush=True)


def possible(kinds: Sequence[str], machines: Sequence[str]) -> list[str]:
    """The kinds of faults that this machine can play."""
    return [kind for kind in kinds if NEEDS.get(kind, "plain") in machines]


def long(machines: Sequence[str], seed: int, faults: int | None) -> list[Plan]:
    """A round for each kind of fault, and one with all of them."""
    kinds = possible(list(LONG), machines)
    plans = [
        Plan(
            name=kind,
            kinds=[kind] * (faults or LONG[kind]),
            machines=["plain", "plain", NEEDS.get(kind, "plain")],
            agents=agents(),
            pause_seconds=(0.2, 2.0),
            is_patient=kind in ("kill", "takeover", "stop", "stall", "hand back"),
        )
        for kind in kinds
    ]
    chance = random.Random(seed)
    # A takeover is a kill that is waited for, so that nothing else would happen meanwhile.
    others = [kind for kind in kinds if kind != "takeover"]
    mixed = [chance.choice(others) for _ in range(faults or MIXED)]
    limits = Plan(
        name="limits",
        kinds=["kill"] * (faults or LIMITS),
        machines=["plain"] * 4,
        agents=[
            Agent(name="eight", seconds=0.3, tests=300, at_once=8),
            Agent(name="rated", seconds=0.05, tests=350, at_once=20, per_minute=200),
        ],
        runs_at_once=2,
        is_patient=True,
    )
    together = Plan(name="all kinds", kinds=mixed, machines=fleet(machines), agents=agents())
    return [*plans, limits, together]


def short(machines: Sequence[str], seed: int) -> list[Plan]:
    """One round with some faults of each kind."""
    kinds = [kind for kind in possible(list(SHORT), machines) for _ in range(SHORT[kind])]
    random.Random(seed).shuffle(kinds)
    return [
        Plan(
            name="short",
            kinds=kinds,
            machines=fleet(machines),
            agents=agents(),
            pause_seconds=(0.1, 0.6),
        )
    ]


def fleet(machines: Sequence[str]) -> list[str]:
    """One machine of each kind, and at least three."""
    return [*machines, *["plain"] * (3 - len(machines))]


def agents() -> list[Agent]:
    """Agents of different speed and limits; one with tests that run code, if that is possible."""
    known = [
        Agent(name="quick", seconds=0.01, tests=200, at_once=8),
        Agent(name="steady", seconds=0.1, tests=60, trials=2, at_once=10),
        Agent(name="slow", seconds=0.8, tests=30, at_once=6),
        Agent(name="single", seconds=0.2, tests=20, at_once=1),
    ]
    if shutil.which("bwrap"):
        known.append(Agent(name="coder", seconds=0.1, tests=8, at_once=4, runs_code=True))
    return known


def report(outcomes: Sequence[Outcome], *, is_timed: bool) -> int:
    """Print the table and what is wrong; returns the exit code."""
    print(f"\n{HEAD}", *(outcome.row for outcome in outcomes), sep="\n")
    faults = sum(outcome.faults.total() for outcome in outcomes)
    lost = sum(outcome.lost for outcome in outcomes)
    doubled = sum(outcome.doubled for outcome in outcomes)
    problems = [problem for outcome in outcomes for problem in outcome.problems]
    for outcome in outcomes:
        # Only without other faults: nobody takes over while the database is away, and the wait
        # begins again when a worker gets a shard's job and is killed before it takes the shard.
        if is_timed and outcome.name == "takeover" and max(outcome.takeovers) > TAKEOVER_SECONDS:
            problems.append(f"a takeover took {max(outcome.takeovers):.1f} s")
        if outcome.name == "hand back" and outcome.asked_twice:
            problems.append(f"after hand backs {outcome.asked_twice} questions were asked twice")
    print(f"{faults} faults, lost {lost}, doubled {doubled}, {len(problems)} problems")
    print(*problems, sep="\n")
    return 1 if lost or doubled or problems else 0


if __name__ == "__main__":
    main()
