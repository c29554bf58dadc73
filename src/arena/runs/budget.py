"""The budget of a run: from its request and the settings, and whether it can be kept."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from arena.agents.agent import AgentDefinition
from arena.agents.spec import OpenAISpec
from arena.errors import Conflict, InvalidInput
from arena.models.budget import Budget, Meter, Spent
from arena.models.usage import has_price
from arena.runs.run import Run, RunStatus

if TYPE_CHECKING:
    from arena.settings import Settings

UNPRICED = "unpriced_models"
"""The fact of an environment that lists the models without a known price."""
RESUMABLE = (RunStatus.RUNNING, RunStatus.FAILED, RunStatus.BUDGET_EXCEEDED)


def new_budget(
    settings: "Settings", environment: Mapping[str, Any], request: Budget | None = None
) -> dict[str, Any] | None:
    """The budget of a new run, as stored: what the request names, else the settings.

    An error if a model of unknown price could exceed it unnoticed.
    """
    budget = Budget(
        max_cost_usd=settings.max_cost,
        max_tokens=settings.max_tokens,
        max_minutes=settings.max_minutes,
        allow_unknown_prices=settings.allow_unknown_prices,
    )
    budget = budget if request is None else budget.changed_by(request)
    _refuse_unpriced(budget, environment)
    return budget.as_json()


def larger_budget(run: Run, request: Budget | None) -> dict[str, Any] | None:
    """The budget of a run that is resumed, as stored; an error if it is already spent."""
    budget = run.budget or Budget()
    if request is not None:
        budget = budget.changed_by(request)
        _refuse_unpriced(budget, run.environment or {})
    reached = spent_by(run).reached(budget)
    # Without a pending test, resuming only ends the run; a state that forbids it is said later.
    is_open = run.status in RESUMABLE and run.completed_tests < run.total_tests
    if reached is not None and is_open:
        raise Conflict(
            f"run {run.id} has spent its budget: {reached}; resume it with a larger one: "
            f"arena runs resume {run.id} --{reached.name.replace('_', '-')} N"
        )
    return budget.as_json()


def spent_by(run: Run) -> Spent:
    """What a run has spent; one that had no budget, as far as its results say."""
    if run.spent is not None:
        return run.spent
    tokens = (run.input_tokens or 0) + (run.output_tokens or 0)
    return Spent(cost_usd=run.cost_usd or 0.0, tokens=tokens)


def meter_of(run: Run) -> Meter | None:
    """The meter of an execution that begins now; None for a run without a budget."""
    return None if run.budget is None else Meter(run.budget, spent_by(run))


class SharedMeter(Meter):
    """The meter of a run that several workers execute: it counts what this one spends.

    What the others spend is added whenever this one has reported.
    """

    def __init__(self, budget: Budget, before: Spent) -> None:
        super().__init__(budget, before)
        self._reported_usd: float = before.cost_usd
        self._reported_tokens: int = before.tokens

    def unreported(self) -> Spent:
        """What was spent here since the last report."""
        return Spent(
            cost_usd=self._cost_usd - self._reported_usd,
            tokens=self._tokens - self._reported_tokens,
        )

    def report(self, reported: Spent, total: Spent) -> None:
        """What was reported is recorded, and the run has spent `total` with it."""
        self._cost_usd += total.cost_usd - self._reported_usd - reported.cost_usd
        self._tokens += total.tokens - self._reported_tokens - reported.tokens
        self._reported_usd, self._reported_tokens = total.cost_usd, total.tokens
        # Never back: they are those of the last report, by whoever made it.
        if total.seconds > self.spent.seconds:
            self._seconds, self._started = total.seconds, time.monotonic()

    def learn(self, total: Spent) -> None:
        """All workers together have reported `total`; an older figure is ignored."""
        if total.cost_usd >= self._reported_usd and total.tokens >= self._reported_tokens:
            self.report(Spent(), total)


async def unpriced_models(
    settings: "Settings", agent: AgentDefinition, environment: Mapping[str, Any]
) -> dict[str, Any]:
    """The fact about the models without a known price; empty if Arena calls none in the run."""
    called = [(name, settings.judge_base_url) for name in environment.get("judge") or ()]
    if user := environment.get("user"):
        called.append((user, settings.user_base_url))
        if settings.user_judged:
            called += [(name, settings.judge_base_url) for name in settings.judge_models]
    spec = agent.connector
    if isinstance(spec, OpenAISpec) and spec.price is None:
        called.insert(0, (spec.model, spec.base_url))
    if not called:
        return {}
    # In a thread: the price list takes half a second to load. Their first answers need it anyway.
    models = await asyncio.to_thread(_unpriced, called)
    return {UNPRICED: models} if models else {}


def _unpriced(called: Sequence[tuple[str, str | None]]) -> list[str]:
    missing = (name for name, url in called if not has_price(name, base_url=url))
    return list(dict.fromkeys(missing))


def _refuse_unpriced(budget: Budget, environment: Mapping[str, Any]) -> None:
    models: Sequence[str] = environment.get(UNPRICED, ())
    if models and budget.max_cost_usd is not None and not budget.allow_unknown_prices:
        raise InvalidInput(
            f"the price of {', '.join(models)} is not known, so max_cost cannot be kept: give a "
            "price in the agent's file, or allow it with --allow-unknown-prices"
        )
