"""Random actors in the market, at random times and with faults, compared with the model.

Every call is made in one of several modes: once, repeated with its key, several concurrently, with
a crash in the middle, or with a key that was used for another call. After each step the market must
match the model and the audit must find nothing.
"""

import asyncio
import copy
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import replace
from random import Random
from typing import Any

from arena.amounts import Amount
from arena.errors import ArenaError
from arena.market.call import Receipt
from arena.market.errors import KeyConflict
from arena.market.signing import Act
from arena.market.task import Assignment, TaskPost, TimeoutPolicy
from arena.scoring.components import share_score
from arena.scoring.history import Subject
from arena.scoring.scorecard import DEFAULT_WEIGHTS
from arena.scoring.scores import Scores
from market_model import SECOND, Job, Model, Refused
from market_world import HASHES, RESULTS, STANDARD, Crash, World

PEOPLE = ("ann", "bob", "solver", "rival", "third", "jim", "fay", "art", "nobody")
AGENTS = ("solver", "rival", "third")
SCORES = (0, 30, 59, 60, 61, 100, -1, 101)
FRAUDS = ("another's key", "another task", "another market")
MODES = ("once",) * 6 + ("again", "at once", "at once, one key", "crash", "other call")
NEXT = {
    "open": ("apply",) * 20 + ("cancel", "expire"),
    "open, wanted": ("assign",) * 12 + ("assign_best",) * 6 + ("apply",) * 3 + ("cancel", "expire"),
    "assigned": ("submit",) * 16 + ("expire",),
    "assigned, committing": ("commit",) * 12 + ("submit", "expire"),
    "committed": ("submit",) * 5 + ("expire",),
    "submitted": ("judge",) * 12 + ("expire",),
    "judged": ("dispute",) * 5 + ("settle",),
    "disputed": ("resolve",) * 3 + ("settle",),
}
"""The actions to try in each state; repetition is the weight."""
EVERYTHING = tuple(sorted({act for acts in NEXT.values() for act in acts}))
STEPS = (
    ("go_on",) * 14
    + ("meddle", "meddle", "post", "post", "post", "wait", "forge")
    + (
        "deposit",
        "withdraw",
    )
)
FLAWS = (None,) * 12 + ("role", "edge", "edge", "content", "content")
PROGRESS = ("open", "assigned", "committed", "submitted", "judged", "disputed")
REQUIRED = {
    "deposit",
    "withdraw",
    "post",
    "apply",
    "assign",
    "assign_best",
    "cancel",
    "commit",
    "submit",
    "reveal",
    "judge: paid",
    "judge: refunded",
    "judge: judged",
    "judge: fallback",
    "dispute",
    "resolve",
    "settle: judged",
    "settle: disputed",
    "expire: open",
    "expire: assigned",
    "expire: committed",
    "expire: submitted",
    "forgery refused",
    "crashed",
    "raced",
}
"""What must happen at least once in a run, or the run proves nothing."""

Make = Callable[[str], Awaitable[Receipt]]
Expect = Callable[[Model, int], None]


class MarketMachine:
    """One history of one team: the same number gives the same history every time."""

    modes = MODES
    tick = 1
    """The smallest step of the ledger's clock, in microseconds."""

    def __init__(self, world: World, done: Counter[str], number: int) -> None:
        self.world, self.done = world, done
        self.chance = Random(number)
        self.model = Model()
        self.team = ""
        self.steps = 0
        self.keys = 0
        self.calls = 0
        """How many calls succeeded."""
        self.flaw: str | None = None
        """The deliberate error in the current step; None if it has none."""

    def begin(self) -> None:
        self.world.set_time(0)
        self.team = self.world.new_team()
        for who in ("ann", "bob"):
            self.cash("deposit", who, self.chance.randint(500, 900), "once")
        self.cash("deposit", "solver", 40, "once")

    def step(self, chance: Random | None = None) -> None:
        """One action, followed by a check of the invariants."""
        self.steps += 1
        before = self.calls
        self.act(chance or Random(self.chance.randbytes(8)))
        self.the_market_is_as_the_model_says()
        # What a refused call leaves behind is found after the next successful one, or at the end.
        if self.calls > before:
            self.the_audit_finds_nothing()

    def end(self) -> None:
        """Check what must hold for the whole history."""
        self.check_events()
        self.check_executions()
        self.check_projections()
        self.check_exits()

    def act(self, chance: Random) -> None:
        act, mode = chance.choice(STEPS), chance.choice(self.modes)
        self.flaw = chance.choice(FLAWS) if act == "go_on" else "anything"
        if act in ("deposit", "withdraw"):
            self.cash(act, chance.choice(PEOPLE), chance.randint(1, 60), mode)
        elif act == "wait":
            self.set_time(self.model.now + chance.choice([1, 5, 20]) * SECOND)
        elif act == "post" or not self.model.jobs:
            self.post(chance, mode)
        elif act == "forge":
            self.forge(chance)
        else:
            getattr(self, act)(chance, mode)

    # Money.

    def cash(self, name: str, who: str, amount: int, mode: str) -> None:
        market, team = self.world.market, self.team
        call = market.deposit_test_money if name == "deposit" else market.withdraw_test_money
        ends = ("outside", f"user:{who}")
        source, target = ends if name == "deposit" else ends[::-1]
        self.perform(
            name,
            lambda key: call(team, who, amount, key=key),
            lambda model, _: model.pay(source, target, amount),
            # Another key would be another deposit.
            "again" if mode == "at once" else mode,
        )

    # Tasks.

    def post(self, chance: Random, mode: str) -> None:
        if len([job for job in self.model.jobs.values() if job.is_live]) >= 2:
            return
        job = self.new_job(chance)
        new = self.offer(job)
        self.perform(
            "post",
            lambda key: self.world.market.post_task(self.team, replace(new, idempotency_key=key)),
            lambda model, number: model.post(number, copy.deepcopy(job)),
            "again" if mode == "at once" else mode,
        )

    def go_on(self, chance: Random, mode: str) -> None:
        """An action that fits the state of a live task."""
        number, job = self.pick(chance, *PROGRESS)
        kind = job.state
        if kind == "open" and job.applied:
            kind = "open, wanted"
        if kind == "assigned" and job.commit_deadline:
            kind = "assigned, committing"
        act = chance.choice(NEXT.get(kind, EVERYTHING))
        is_over = job.is_live and self.model.now >= job.exit()
        if self.flaw is None and is_over:
            act = "settle" if job.state in ("judged", "disputed") else "expire"
        elif act in ("settle", "expire"):
            self.set_time(max(self.model.now, job.exit() + self.near(chance, [-1, 0, 0, 1])))
        elif self.flaw == "edge":
            self.set_time(
                max(self.model.now, self.edge(chance, job) + self.near(chance, [-1, 0, 1]))
            )
        getattr(self, act)(chance, mode, number, job)

    def edge(self, chance: Random, job: Job) -> int:
        """A time at which, mostly, an action stops being allowed."""
        ends = {"submitted": job.judge_end, "assigned": job.commit_deadline or job.deadline}
        return chance.choice([ends.get(job.state, job.exit()), job.exit(), *job.landmarks()])

    def meddle(self, chance: Random, mode: str) -> None:
        """Any action on any task, including one that has ended."""
        act = chance.choice(EVERYTHING)
        number, job = self.pick(chance)
        if chance.random() < 0.1:
            self.set_time(max(self.model.now, chance.choice(job.landmarks())))
        getattr(self, act)(chance, mode, number, job)

    def apply(self, chance: Random, mode: str, number: int, job: Job) -> None:
        agent = chance.choice(AGENTS)

        def make(key: str) -> Awaitable[Receipt]:
            proof = self.world.proof(self.team, Act.APPLY, number, agent)
            return self.world.market.apply(self.team, number, agent, proof, key=key)

        self.perform("apply", make, lambda model, _: model.apply(number, agent), mode)

    def assign(self, chance: Random, mode: str, number: int, job: Job) -> None:
        by = self.actor(chance, job.poster)
        fitting = list(job.applied) if self.flaw != "content" else []
        agent = chance.choice(fitting or AGENTS)
        self.perform(
            "assign",
            lambda key: self.world.market.assign(self.team, number, agent, by=by, key=key),
            lambda model, _: model.assign(number, by, agent),
            mode,
        )

    def assign_best(self, chance: Random, mode: str, number: int, job: Job) -> None:
        if job.apply_until and self.model.now < job.apply_until and chance.random() < 0.5:
            self.set_time(job.apply_until)
        self.perform(
            "assign_best",
            lambda key: self.world.market.assign_best(self.team, number, key=key),
            lambda model, _: model.assign_best(number),
            mode,
        )

    def cancel(self, chance: Random, mode: str, number: int, job: Job) -> None:
        by = self.actor(chance, job.poster)
        self.perform(
            "cancel",
            lambda key: self.world.market.cancel(self.team, number, by=by, key=key),
            lambda model, _: model.cancel(number, by),
            mode,
        )

    def commit(self, chance: Random, mode: str, number: int, job: Job) -> None:
        by = self.actor(chance, job.agent, others=AGENTS)
        commitment = self.commitment(number, by, "one")

        def make(key: str) -> Awaitable[Receipt]:
            proof = self.world.proof(self.team, Act.COMMIT, number, by, commitment)
            market = self.world.market
            return market.commit_result(self.team, number, by, commitment, proof, key=key)

        self.perform("commit", make, lambda model, _: model.commit(number, by, commitment), mode)

    def submit(self, chance: Random, mode: str, number: int, job: Job) -> None:
        if job.state == "committed" and job.commit_deadline and chance.random() < 0.5:
            self.set_time(max(self.model.now, job.commit_deadline))
        by = self.actor(chance, job.agent, others=AGENTS)
        is_free = job.commitment is None or self.flaw in ("content", "anything")
        name = chance.choice(["one", "two"]) if is_free else "one"
        as_bytes = chance.random() < 0.5
        salt = "salt" if job.state == "committed" else None
        revealed = self.commitment(number, by, name) if salt else None

        def make(key: str) -> Awaitable[Receipt]:
            proof = self.world.proof(self.team, Act.SUBMIT, number, by, HASHES[name])
            result = RESULTS[name] if as_bytes else HASHES[name]
            market = self.world.market
            return market.submit_result(self.team, number, by, result, proof, salt=salt, key=key)

        self.perform(
            "reveal" if salt else "submit",
            make,
            lambda model, _: model.submit(number, by, HASHES[name], revealed),
            mode,
        )

    def judge(self, chance: Random, mode: str, number: int, job: Job) -> None:
        by, winner = self.actor(chance, job.judge), job.agent or "solver"
        score, result = chance.choice(SCORES[:6]), job.result or HASHES["one"]
        if job.fallback and self.flaw is None and chance.random() < 0.4:
            by = job.fallback
            if self.model.now < job.judge_end and job.state == "submitted":
                self.set_time(job.judge_end + self.near(chance, [-1, 0, 1]))
        if self.flaw in ("content", "anything"):
            match chance.randrange(3):
                case 0:
                    winner = chance.choice([agent for agent in AGENTS if agent != winner])
                    score = 100
                case 1:
                    result = chance.choice([name for name in HASHES.values() if name != result])
                case _:
                    score = chance.choice([-1, 101])
        named = {"score": score, "winner": winner, "result_hash": result, "reason_uri": "why"}
        is_done = self.perform(
            "judge",
            lambda key: self.world.market.judge(self.team, number, **named, by=by, key=key),
            lambda model, _: model.judge(number, by, score, winner, result),
            mode,
        )
        if is_done:
            self.done[f"judge: {self.model.jobs[number].state}"] += 1
            self.done["judge: fallback"] += by == job.fallback

    def dispute(self, chance: Random, mode: str, number: int, job: Job) -> None:
        loser = job.poster if (job.score or 0) >= 60 else job.agent
        by = self.actor(chance, loser)

        def make(key: str) -> Awaitable[Receipt]:
            # An agent signs, whether it is a party or not; a poster has no key.
            proof = None
            if by in AGENTS:
                proof = self.world.proof(self.team, Act.DISPUTE, number, by, "no")
            return self.world.market.dispute(
                self.team, number, by=by, reason_uri="no", proof=proof, key=key
            )

        self.perform("dispute", make, lambda model, _: model.dispute(number, by), mode)

    def resolve(self, chance: Random, mode: str, number: int, job: Job) -> None:
        is_right = self.flaw not in ("content", "anything")
        score = chance.choice(SCORES[:6] if is_right else SCORES)
        by = self.actor(chance, job.arbiter or "art")
        self.perform(
            "resolve",
            lambda key: self.world.market.resolve(
                self.team, number, score, by=by, reason_uri="so", key=key
            ),
            lambda model, _: model.resolve(number, by, score),
            mode,
        )

    def settle(self, chance: Random, mode: str, number: int, job: Job) -> None:
        before, by = job.state, chance.choice(PEOPLE)
        if self.perform(
            "settle",
            lambda key: self.world.market.settle(self.team, number, by=by, key=key),
            lambda model, _: model.settle(number),
            mode,
        ):
            self.done[f"settle: {before}"] += 1

    def expire(self, chance: Random, mode: str, number: int, job: Job) -> None:
        before, by = job.state, chance.choice(PEOPLE)
        if self.perform(
            "expire",
            lambda key: self.world.market.expire(self.team, number, by=by, key=key),
            lambda model, _: model.expire(number),
            mode,
        ):
            self.done[f"expire: {before}"] += 1

    def forge(self, chance: Random) -> None:
        fraud = chance.choice(FRAUDS)
        number, job = self.pick(chance, "open", "assigned")
        agent = job.agent or chance.choice(AGENTS)
        other = AGENTS[AGENTS.index(agent) - 1]
        act, content = (Act.APPLY, "") if job.agent is None else (Act.SUBMIT, HASHES["one"])
        proof = self.world.proof(
            self.team,
            act,
            number + (fraud == "another task"),
            agent,
            content,
            signer=other if fraud == "another's key" else None,
            market="0" * 32 if fraud == "another market" else None,
        )
        market = self.world.market
        call = (
            market.apply(self.team, number, agent, proof)
            if act is Act.APPLY
            else market.submit_result(self.team, number, agent, HASHES["one"], proof)
        )
        _, error = self.outcome(call)
        assert error == "BadSignature"
        self.done["forgery refused"] += 1

    # Invariants.

    def the_market_is_as_the_model_says(self) -> None:
        market, run = self.world.market, self.world.run
        held = {name: amount for name, amount in self.model.money.items() if amount}
        assert dict(run(market.balances(self.team))) == held
        seen = {task.id: task for task in run(market.tasks(self.team, limit=100))}
        assert seen.keys() == self.model.jobs.keys()
        for number, job in self.model.jobs.items():
            task = seen[number]
            assert (task.state, task.agent, task.score) == (job.state, job.agent, job.score)
            assert (task.expiry_reason, task.result_hash) == (job.reason, job.result)
            assert (task.exit_at is not None) == job.is_live
        for agent in run(market.agents(self.team)):
            fame = self.model.fame.get(agent.id, Counter())
            known = agent.reputation
            assert (known.attempts, known.judged, known.score_sum, known.wins, known.no_shows) == (
                fame["attempts"],
                fame["judged"],
                fame["score_sum"],
                fame["wins"],
                fame["no_shows"],
            )

    def the_audit_finds_nothing(self) -> None:
        assert self.world.run(self.world.market.audit(self.team)).violations == ()

    def check_events(self) -> None:
        """A poller with a cursor sees everything, once and in order."""
        market, run = self.world.market, self.world.run
        seen, since = [], 0
        while page := run(market.events(self.team, since=since, limit=7)):
            seen += page
            since = page[-1].id
        assert seen == list(run(market.events(self.team, limit=1000)))
        assert [event.id for event in seen] == sorted({event.id for event in seen})
        assert [event.at for event in seen] == sorted(event.at for event in seen)

    def check_projections(self) -> None:
        """Reputations and executions follow from the events: recomputing them changes none."""
        rebuilt = self.world.run(self.world.market.rebuild(self.team))
        assert (rebuilt.reputations, rebuilt.executions) == (0, 0), rebuilt
        assert rebuilt.tasks == len(self.model.jobs)

    def check_executions(self) -> None:
        scores = Scores(self.world.database, DEFAULT_WEIGHTS)
        for agent in AGENTS:
            subject = Subject(team_id=self.team, agent_id=agent, version="1.0.0")
            row = self.world.run(scores.entry(subject))
            completed = self.model.executions[agent, "completed"]
            total = completed + self.model.executions[agent, "timeout"]
            assert (row.execution_count if row else 0) == total
            rate = share_score(completed, total)
            assert (row.success_rate_score if row else None) == (rate and float(rate))

    def check_exits(self) -> None:
        """Whatever the parties do, anyone can end every task in finite time."""
        for _ in range(3):
            ends = [max(job.landmarks()) for job in self.model.jobs.values() if job.is_live]
            if ends:
                self.set_time(max(self.model.now, *ends))
            self.world.run(self.world.market.close_due(self.team))
            for number, job in self.model.jobs.items():
                if job.is_live:
                    act = self.model.settle if job.state in ("judged", "disputed") else None
                    (act or self.model.expire)(number)
        self.the_market_is_as_the_model_says()
        held = self.world.run(self.world.market.balances(self.team))
        assert not [name for name in held if name.startswith(("escrow:", "bond:"))]
        assert self.world.run(self.world.market.audit(self.team)).violations == ()

    # How calls are made.

    def perform(self, name: str, make: Make, expect: Expect, mode: str) -> bool:
        """Make the call in this mode; returns whether it succeeded. It must match the model."""
        expected = self.predict(expect)
        self.keys += 1
        key = f"key-{self.keys}"
        receipt, error = None, None
        if mode == "crash":
            receipt, error = self.crashed(make, key)
        elif mode in ("at once", "at once, one key"):
            receipt, error = self.raced(make, key, expected, one_key=mode != "at once")
        if receipt is None and error is None:
            receipt, error = self.outcome(make(key))
        assert error == expected, f"{name}: {error or 'done'}, must be {expected or 'done'}"
        if receipt is None:
            return False
        expect(self.model, receipt.task_id or 0)
        if receipt.task_id is not None:
            assert receipt.state == self.model.jobs[receipt.task_id].state
        if mode in ("again", "crash", "at once, one key"):
            assert self.outcome(make(key)) == (receipt, None)
        if mode == "other call":
            other = self.world.market.deposit_test_money(self.team, "else", 1, key=key)
            assert self.outcome(other) == (None, KeyConflict.__name__)
        self.done[name] += 1
        self.calls += 1
        return True

    def predict(self, expect: Expect) -> str | None:
        try:
            expect(copy.deepcopy(self.model), 0)
        except Refused as refused:
            return str(refused)
        return None

    def crashed(self, make: Make, key: str) -> tuple[Receipt | None, str | None]:
        """Let the call crash somewhere; (None, None) if it must be made again."""
        statements = self.keys * 7 % 23
        try:
            return self.world.crashing(lambda: make(key), statements), None
        except Crash:
            self.done["crashed"] += 1
            self.the_market_is_as_the_model_says()
            return None, None
        except ArenaError as error:
            return None, type(error).__name__

    def raced(
        self, make: Make, key: str, expected: str | None, *, one_key: bool
    ) -> tuple[Receipt | None, str | None]:
        """Make the call three times concurrently: one succeeds, whatever the order."""
        calls = [make(key if one_key else f"{key}-{place}") for place in range(3)]

        async def together() -> list[Any]:
            return await asyncio.gather(*calls, return_exceptions=True)

        ended = self.world.run(together())
        for one in ended:
            if isinstance(one, BaseException) and not isinstance(one, ArenaError):
                raise one
        receipts = [one for one in ended if isinstance(one, Receipt)]
        errors = {type(one).__name__ for one in ended if isinstance(one, ArenaError)}
        if not receipts:
            assert errors == {expected}
            return None, expected
        self.done["raced"] += 1
        assert len(receipts) == (3 if one_key else 1), f"done {len(receipts)} times"
        assert all(one == receipts[0] for one in receipts)
        return receipts[0], None

    def outcome(self, call: Awaitable[Receipt]) -> tuple[Receipt | None, str | None]:
        try:
            return self.world.run(call), None
        except ArenaError as error:
            return None, type(error).__name__

    # Choosing.

    def pick(self, chance: Random, *states: str) -> tuple[int, Job]:
        """A task in one of the states, if there is one; mostly the one that has come furthest."""
        fitting = [number for number, job in self.model.jobs.items() if job.state in states]
        if fitting and chance.random() < 0.6:
            number = max(fitting, key=lambda one: states.index(self.model.jobs[one].state))
        else:
            number = chance.choice(fitting or list(self.model.jobs))
        return number, self.model.jobs[number]

    def actor(self, chance: Random, *right: Any, others: tuple[str, ...] = PEOPLE) -> str:
        """The one with the role, unless the role is the deliberate error."""
        fitting = [name for name in right if name is not None and name in others]
        is_wrong = self.flaw == "role" or (self.flaw == "anything" and chance.random() < 0.3)
        return chance.choice(others if is_wrong or not fitting else fitting)

    def set_time(self, microseconds: int) -> None:
        self.model.now = microseconds
        self.world.set_time(microseconds)

    def near(self, chance: Random, ticks: list[int]) -> int:
        """Some ticks before or after a moment."""
        return chance.choice(ticks) * self.tick

    def new_job(self, chance: Random) -> Job:
        return a_job(chance, self.model.now)

    def commitment(self, number: int, agent: str, name: str) -> str:
        return self.world.commitment(self.team, number, agent, HASHES[name])

    def offer(self, job: Job) -> TaskPost:
        moment = self.world.moment
        deadline = moment(job.deadline)
        assert deadline is not None
        return TaskPost(
            poster=job.poster,
            description="do it",
            evaluation=STANDARD,
            reward=Amount(job.reward),
            deadline=deadline,
            judge=job.judge,
            judge_window_seconds=job.judge_window // SECOND,
            fallback_judge=job.fallback,
            fallback_window_seconds=job.fallback_window // SECOND,
            timeout_policy=TimeoutPolicy.SPLIT if job.share else TimeoutPolicy.REFUND,
            agent_share_percent=job.share,
            dispute_window_seconds=job.dispute_window // SECOND,
            arbiter=job.arbiter,
            arbiter_window_seconds=job.arbiter_window // SECOND,
            bond=Amount(job.bond),
            commit_deadline=moment(job.commit_deadline),
            max_applicants=job.limit,
            is_self_judged=job.self_judged,
            assignment=Assignment(job.policy),
            apply_until=moment(job.apply_until),
        )


def a_job(chance: Random, now: int) -> Job:
    """Terms that are mostly valid."""
    poster = chance.choice(["ann", "bob"])
    deadline = now + chance.choice([300, 1000, 5000]) * SECOND
    job = Job(
        poster=poster,
        reward=chance.randint(1, 120),
        deadline=deadline,
        judge="jim",
        judge_window=chance.choice([60, 100]) * SECOND,
        limit=chance.choice([1, 2, 100]),
        share=chance.choice([0, 0, 50, 33, 100]),
    )
    if chance.random() < 0.5:
        job.fallback, job.fallback_window = "fay", 60 * SECOND
    if chance.random() < 0.6:
        job.dispute_window, job.arbiter, job.arbiter_window = 80 * SECOND, "art", 70 * SECOND
        job.bond = chance.choice([0, 5, 30])
    if chance.randrange(4) == 3:
        job.commit_deadline = deadline - 100 * SECOND
    match chance.randrange(10):
        case 0 | 1:
            job.policy = "first"
        case 2 | 3 | 4:
            job.policy, job.apply_until = "best_reputation", now + 50 * SECOND
        case 5:
            job.judge = poster
            job.self_judged = chance.random() < 0.5
        case 6:
            job.judge = "third"  # an agent that may then not apply
        case 7 if chance.random() < 0.5:
            job.deadline, job.commit_deadline = now, None
        case _:
            pass
    return job
