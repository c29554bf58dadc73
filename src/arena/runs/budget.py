"""The budget of a run: from its request and the settings, and whether it can be kept."""

import asyncio
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
