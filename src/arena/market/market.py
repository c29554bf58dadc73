"""The door of this room: post, apply, assign, submit, judge, dispute, settle, and read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from arena.content import LocalStore
from arena.evaluation import Standard
from arena.market.agents import Applicant, MarketAgent
from arena.market.events import Event
from arena.market.money import Entry, Line
from arena.market.proof import Proof
from arena.market.receipt import Receipt
from arena.market.task import Task, TaskState
from arena.market.terms import Terms
from arena.store import Database

ANYONE = "anyone"
"""Who ends a task where nobody is named: timeouts need no role."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTask:
    """What somebody wants done, and how it will be judged."""

    description: str
    evaluation: str | Mapping[str, object]
    """The CID of a standard that is in the content store, or the standard itself."""
    terms: Terms


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """A verdict as the market takes it: it names the very result and agent it is about."""

    score: int
    """0 to 100; `MIN_PASS_SCORE` and above pays the agent."""
    winner: str
    """The agent the task is assigned to, whatever the score."""
    result_hash: str
    reason_uri: str
    """Where the verdict's record is, e.g. its CID."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFilter:
    """Which tasks are wanted; what is None lets everything through."""

    states: frozenset[TaskState] | None = None
    poster: str | None = None
    agent: str | None = None
    """Assigned to it."""
    applicant: str | None = None
    """It has applied."""
    judge: str | None = None
    """It is the judge, the fallback judge or the arbiter."""
    min_reward: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskStory:
    """A task with all that happened to it."""

    task: Task
    applicants: Sequence[Applicant]
    """The best first."""
    events: Sequence[Event]
    entries: Sequence[Entry]


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """An invariant that does not hold."""

    invariant: str
    """I1 to I9, as docs/market.md numbers them."""
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditReport:
    """What a look at every raw row found."""

    tasks: int
    entries: int
    postings: int
    accounts: int
    violations: tuple[Violation, ...]

    @property
    def is_clean(self) -> bool:
        """Whether every invariant holds."""
        return not self.violations


class Market:
    """Tasks, agents and money of every team. All that changes something takes a `key`.

    The same key and the same arguments give the same receipt and do nothing again; the same key
    with other arguments raises `KeyConflict`. Without a key every call is a new one. Who acts is
    named by `by`; the market checks that this party has the role, not who sent the request.
    """

    def __init__(self, database: Database, content: LocalStore) -> None:
        self._database = database
        self._content = content

    async def identity(self, team_id: str) -> str:
        """The id of the team's market, which every signature names."""
        raise NotImplementedError

    # Tasks: every change.

    async def post_task(
        self, team_id: str, poster: str, new: NewTask, *, key: str | None = None
    ) -> Receipt:
        """Offer a task: the standard is fetched, verified and pinned, then the reward locked."""
        raise NotImplementedError

    async def apply(
        self, team_id: str, task_id: int, agent: str, proof: Proof, *, key: str | None = None
    ) -> Receipt:
        """Ask for a task; signs `Statement(act=APPLY, content="")`.

        With the assignment `first` the receipt's state says whether the agent has it.
        """
        raise NotImplementedError

    async def assign(
        self, team_id: str, task_id: int, agent: str, *, by: str, key: str | None = None
    ) -> Receipt:
        """Give the task to one of its applicants."""
        raise NotImplementedError

    async def assign_best(
        self, team_id: str, task_id: int, *, by: str = ANYONE, key: str | None = None
    ) -> Receipt:
        """Give a `best_reputation` task to the applicant ranked first, from `apply_until` on."""
        raise NotImplementedError

    async def commit_result(
        self,
        team_id: str,
        task_id: int,
        agent: str,
        commitment: str,
        proof: Proof,
        *,
        key: str | None = None,
    ) -> Receipt:
        """Bind the agent to a result not yet shown; signs `act=COMMIT, content=commitment`.

        `commitment_of` computes it.
        """
        raise NotImplementedError

    async def submit_result(
        self,
        team_id: str,
        task_id: int,
        agent: str,
        result: bytes | str,
        proof: Proof,
        *,
        salt: str | None = None,
        key: str | None = None,
    ) -> Receipt:
        """Hand in the result, once: bytes, or the CID of content that is in the store.

        Signs `act=SUBMIT, content=<the result's CID>`. `salt` reveals a commitment.
        """
        raise NotImplementedError

    async def judge(
        self, team_id: str, task_id: int, judgement: Judgement, *, by: str, key: str | None = None
    ) -> Receipt:
        """Give the one verdict (`judgeAndPay`); without a dispute window it settles at once."""
        raise NotImplementedError

    async def dispute(
        self, team_id: str, task_id: int, *, by: str, reason_uri: str, key: str | None = None
    ) -> Receipt:
        """Contest the verdict, once, as the side that lost; locks the bond."""
        raise NotImplementedError

    async def resolve(
        self,
        team_id: str,
        task_id: int,
        score: int,
        *,
        by: str,
        reason_uri: str,
        key: str | None = None,
    ) -> Receipt:
        """Decide a dispute as the arbiter; settles at once."""
        raise NotImplementedError

    async def cancel(
        self, team_id: str, task_id: int, *, by: str, key: str | None = None
    ) -> Receipt:
        """Take an unassigned task back; the reward returns to its poster."""
        raise NotImplementedError

    async def expire(
        self, team_id: str, task_id: int, *, by: str = ANYONE, key: str | None = None
    ) -> Receipt:
        """End a task whose time has run out: nothing submitted, or nothing judged."""
        raise NotImplementedError

    async def settle(
        self, team_id: str, task_id: int, *, by: str = ANYONE, key: str | None = None
    ) -> Receipt:
        """Pay or refund by the first verdict when nobody disputed, or the arbiter kept silent."""
        raise NotImplementedError

    # Agents.

    async def register_agent(
        self,
        team_id: str,
        agent: str,
        public_key: str,
        proof: Proof,
        *,
        version: str = "1.0.0",
        key: str | None = None,
    ) -> MarketAgent:
        """Let an agent in; signs `act=REGISTER, task_id=None, content=public_key`.

        Again with the same key: the version is renewed. With another key: `Conflict`.
        """
        raise NotImplementedError

    async def agent(self, team_id: str, agent: str) -> MarketAgent:
        """One agent and its reputation; `NotFound` where it is not registered."""
        raise NotImplementedError

    async def agents(self, team_id: str) -> Sequence[MarketAgent]:
        """Every agent of the team's market, by id."""
        raise NotImplementedError

    async def applicants(self, team_id: str, task_id: int) -> Sequence[Applicant]:
        """Who applied, the best first."""
        raise NotImplementedError

    # Reading.

    async def task(self, team_id: str, task_id: int) -> Task:
        """A task of the team; `UnknownTask` where it has none by that number."""
        raise NotImplementedError

    async def tasks(
        self,
        team_id: str,
        wanted: TaskFilter | None = None,
        *,
        limit: int = 20,
        before: int | None = None,
    ) -> Sequence[Task]:
        """Tasks, newest first; `before` is the id of the last one on the page before."""
        raise NotImplementedError

    async def story(self, team_id: str, task_id: int) -> TaskStory:
        """A task with its applicants, events and entries."""
        raise NotImplementedError

    async def due(self, team_id: str, *, limit: int = 100) -> Sequence[Task]:
        """Live tasks whose exit is open now: `expire` or `settle` ends each."""
        raise NotImplementedError

    async def close_due(self, team_id: str) -> Sequence[Receipt]:
        """End every task that is due: a courtesy, since anyone may do it."""
        raise NotImplementedError

    async def events(
        self, team_id: str, *, since: int = 0, limit: int = 100, task_id: int | None = None
    ) -> Sequence[Event]:
        """Events after the one with the id `since`, in order; no later one can come before."""
        raise NotImplementedError

    async def standard_of(self, task: Task) -> Standard:
        """The standard a task is judged by, verified against its CID."""
        raise NotImplementedError

    async def result_of(self, task: Task) -> bytes:
        """The whole result, verified against `result_hash`; never a preview."""
        raise NotImplementedError

    # Money.

    async def deposit_test_money(
        self, team_id: str, account: str, amount: int, *, key: str | None = None
    ) -> Receipt:
        """Give a party test money from outside; it is worth nothing."""
        raise NotImplementedError

    async def withdraw_test_money(
        self, team_id: str, account: str, amount: int, *, key: str | None = None
    ) -> Receipt:
        """Take test money out of a party's account."""
        raise NotImplementedError

    async def balance(self, team_id: str, account: str) -> int:
        """What a party has, in minor units; 0 for one that is not known."""
        raise NotImplementedError

    async def balances(self, team_id: str) -> Mapping[str, int]:
        """Every account that is not empty: `user:…`, `escrow:…`, `bond:…`, `outside`."""
        raise NotImplementedError

    async def history(
        self, team_id: str, account: str, *, limit: int = 50, before: int | None = None
    ) -> Sequence[Line]:
        """A party's postings, newest first; `before` is the last entry of the page before."""
        raise NotImplementedError

    async def audit(self, team_id: str | None = None) -> AuditReport:
        """Check every invariant from the raw rows, of one team or of all."""
        raise NotImplementedError

    def now(self) -> datetime:
        """The time that decides about windows."""
        raise NotImplementedError
