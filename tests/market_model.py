"""A reference model of the market: plain dictionaries and ifs.

It shares no code with Arena, only the names of its errors. Times are microseconds after the start,
so that "one tick before" is exact. Amounts and accounts are kept in one Counter.
"""

import math
from collections import Counter
from dataclasses import dataclass, field

SECOND = 1_000_000


class Refused(Exception):
    """The call must fail with the error of this name."""


@dataclass
class Job:
    """A task as the model sees it."""

    poster: str
    reward: int
    deadline: int
    judge: str
    judge_window: int
    fallback: str | None = None
    fallback_window: int = 0
    dispute_window: int = 0
    arbiter: str | None = None
    arbiter_window: int = 0
    bond: int = 0
    share: int = 0
    commit_deadline: int | None = None
    limit: int = 100
    self_judged: bool = False
    policy: str = "manual"
    apply_until: int | None = None
    state: str = "open"
    reason: str | None = None
    applied: dict[str, int] = field(default_factory=dict)
    """Who applied, and when."""
    agent: str | None = None
    commitment: str | None = None
    result: str | None = None
    submitted: int = 0
    judged: int = 0
    disputed: int = 0
    disputer: str | None = None
    score: int | None = None

    def landmarks(self) -> list[int]:
        """Times at which something about this task changes."""
        times = [self.deadline]
        times += [self.commit_deadline] if self.commit_deadline else []
        times += [self.apply_until] if self.apply_until else []
        if self.state == "submitted":
            times += [self.judge_end, self.judge_end + self.fallback_window]
        if self.state == "judged":
            times += [self.judged + self.dispute_window]
        if self.state == "disputed":
            times += [self.disputed + self.arbiter_window]
        return times

    def exit(self) -> int:
        """The time from which anyone may end it."""
        match self.state:
            case "submitted":
                return self.judge_end + self.fallback_window
            case "judged":
                return self.judged + self.dispute_window
            case "disputed":
                return self.disputed + self.arbiter_window
            case _:
                return self.deadline

    @property
    def judge_end(self) -> int:
        return self.submitted + self.judge_window

    @property
    def is_live(self) -> bool:
        return self.state in ("open", "assigned", "committed", "submitted", "judged", "disputed")


class Model:
    """The expected state of the market."""

    def __init__(self) -> None:
        self.now = 0
        self.money: Counter[str] = Counter()
        self.jobs: dict[int, Job] = {}
        self.fame: dict[str, Counter[str]] = {}
        self.executions: Counter[tuple[str, str]] = Counter()

    def pay(self, source: str, target: str, amount: int) -> None:
        if source != "outside" and self.money[source] < amount:
            raise Refused("InsufficientFunds")
        self.money[source] -= amount
        self.money[target] += amount

    # Calls. Each checks the state, the role, the time and the content, in this order.

    def post(self, number: int, job: Job) -> None:
        if job.judge == job.poster and not job.self_judged:
            raise Refused("WrongRole")
        if job.deadline <= self.now:
            raise Refused("InvalidInput")
        self.pay(f"user:{job.poster}", f"escrow:{number}", job.reward)
        self.jobs[number] = job

    def apply(self, number: int, by: str) -> None:
        job = self._in(number, "open")
        if by in (job.poster, job.judge, job.fallback, job.arbiter):
            raise Refused("WrongRole")
        self._before(job.deadline)
        if by in job.applied or len(job.applied) >= job.limit:
            raise Refused("WrongState")
        job.applied[by] = self.now
        if job.policy == "first":
            self._give(job, by)

    def assign(self, number: int, by: str, agent: str) -> None:
        job = self._in(number, "open")
        self._is(by, job.poster)
        self._before(job.deadline)
        if agent not in job.applied:
            raise Refused("WrongState")
        self._give(job, agent)

    def assign_best(self, number: int) -> None:
        job = self._in(number, "open")
        if job.policy != "best_reputation":
            raise Refused("WrongState")
        assert job.apply_until is not None
        self._from(job.apply_until)
        self._before(job.deadline)
        if not job.applied:
            raise Refused("WrongState")
        self._give(job, min(job.applied, key=lambda agent: self._merit(job, agent)))

    def cancel(self, number: int, by: str) -> None:
        job = self._in(number, "open")
        self._is(by, job.poster)
        self._before(job.deadline)
        self._end(number, "cancelled", {job.poster: job.reward})

    def commit(self, number: int, by: str, commitment: str) -> None:
        job = self._in(number, "assigned")
        if job.commit_deadline is None:
            raise Refused("WrongState")
        self._is(by, job.agent)
        self._before(job.commit_deadline)
        job.state, job.commitment = "committed", commitment

    def submit(self, number: int, by: str, result: str, revealed: str | None) -> None:
        job = self._in(number, "assigned", "committed")
        if job.state == "assigned" and job.commit_deadline is not None:
            raise Refused("WrongState")
        self._is(by, job.agent)
        if job.state == "committed":
            assert job.commit_deadline is not None
            self._from(job.commit_deadline)
        self._before(job.deadline)
        if job.state == "committed" and revealed != job.commitment:
            raise Refused("BadContent")
        job.state, job.result, job.submitted = "submitted", result, self.now
        self.executions[by, "completed"] += 1

    def judge(self, number: int, by: str, score: int, winner: str, result: str) -> None:
        job = self._in(number, "submitted")
        if by == job.judge:
            self._before(job.judge_end)
        elif by == job.fallback:
            self._from(job.judge_end)
            self._before(job.judge_end + job.fallback_window)
        else:
            raise Refused("WrongRole")
        if score < 0 or score > 100:
            raise Refused("BadScore")
        if winner != job.agent:
            raise Refused("WrongRole")
        if result != job.result:
            raise Refused("BadContent")
        job.state, job.score, job.judged = "judged", score, self.now
        if job.dispute_window == 0:
            self._by_score(number, score)

    def dispute(self, number: int, by: str) -> None:
        job = self._in(number, "judged")
        self._is(by, job.poster if (job.score or 0) >= 60 else job.agent)
        self._before(job.judged + job.dispute_window)
        self.pay(f"user:{by}", f"bond:{number}", job.bond)
        job.state, job.disputer, job.disputed = "disputed", by, self.now

    def resolve(self, number: int, by: str, score: int) -> None:
        job = self._in(number, "disputed")
        self._is(by, job.arbiter)
        self._before(job.disputed + job.arbiter_window)
        if score < 0 or score > 100:
            raise Refused("BadScore")
        winner = job.agent if score >= 60 else job.poster
        self.pay(f"bond:{number}", f"user:{winner}", job.bond)
        self._by_score(number, score)

    def settle(self, number: int) -> None:
        job = self._in(number, "judged", "disputed")
        if job.state == "judged":
            self._from(job.judged + job.dispute_window)
        else:
            self._from(job.disputed + job.arbiter_window)
            self.pay(f"bond:{number}", f"user:{job.disputer}", job.bond)
        assert job.score is not None
        self._by_score(number, job.score)

    def expire(self, number: int) -> None:
        job = self._in(number, "open", "assigned", "committed", "submitted")
        if job.state == "submitted":
            self._from(job.judge_end + job.fallback_window)
            assert job.agent is not None
            share = job.reward * job.share // 100
            self._end(number, "expired", {job.agent: share, job.poster: job.reward - share})
            job.reason = "no_verdict"
            return
        self._from(job.deadline)
        if job.agent is not None:
            self.executions[job.agent, "timeout"] += 1
            self._count(job, no_shows=1)
        self._end(number, "expired", {job.poster: job.reward})
        job.reason = "no_submission"

    def _merit(self, job: Job, agent: str) -> tuple[float, float, int, str]:
        """Sort key, best first: Wilson lower bound of the win rate, average, time, name."""
        fame = self.fame.get(agent, Counter())
        total, z = fame["judged"] + fame["no_shows"], 1.959963984540054
        low = 0.0
        if total:
            rate = fame["wins"] / total
            spread = z * math.sqrt(rate * (1 - rate) / total + z * z / (4 * total * total))
            low = (rate + z * z / (2 * total) - spread) / (1 + z * z / total)
        average = fame["score_sum"] / fame["judged"] if fame["judged"] else 0.0
        return -round(low, 9), -average, job.applied[agent], agent

    # Helpers of the calls.

    def _in(self, number: int, *states: str) -> Job:
        if number not in self.jobs:
            raise Refused("UnknownTask")
        if self.jobs[number].state not in states:
            raise Refused("WrongState")
        return self.jobs[number]

    def _is(self, who: str, required: str | None) -> None:
        if who != required:
            raise Refused("WrongRole")

    def _before(self, end: int) -> None:
        if not self.now < end:
            raise Refused("TooLate")

    def _from(self, start: int) -> None:
        if not self.now >= start:
            raise Refused("TooEarly")

    def _give(self, job: Job, agent: str) -> None:
        job.state, job.agent = "assigned", agent
        self._count(job, attempts=1)

    def _by_score(self, number: int, score: int) -> None:
        job = self.jobs[number]
        passed = score >= 60
        self._count(job, judged=1, score_sum=score, wins=int(passed))
        winner = job.agent if passed else job.poster
        assert winner is not None
        self._end(number, "paid" if passed else "refunded", {winner: job.reward})

    def _end(self, number: int, state: str, shares: dict[str, int]) -> None:
        for who, amount in shares.items():
            self.pay(f"escrow:{number}", f"user:{who}", amount)
        self.jobs[number].state = state

    def _count(self, job: Job, **deeds: int) -> None:
        if not job.self_judged:
            assert job.agent is not None
            self.fame.setdefault(job.agent, Counter()).update(deeds)
