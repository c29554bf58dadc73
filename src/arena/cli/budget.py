"""The options of a budget: `--max-cost`, `--max-tokens`, `--max-minutes`."""

from typing import Annotated, Any

import typer

from arena.settings import Settings

MaxCost = Annotated[
    float | None,
    typer.Option(metavar="USD", help="Stop before a model call once this much is spent."),
]
MaxTokens = Annotated[
    int | None,
    typer.Option(metavar="N", help="Stop before a model call once so many tokens are used."),
]
MaxMinutes = Annotated[
    float | None,
    typer.Option(metavar="M", help="Ask no more after so many minutes, over all resumptions."),
]
AllowUnknownPrices = Annotated[
    bool | None,
    typer.Option(
        "--allow-unknown-prices/--refuse-unknown-prices",
        help="Whether a run with a budget may use models of unknown price, as if they cost "
        "nothing (default: refuse).",
    ),
]


def limits_of(
    max_cost: float | None,
    max_tokens: int | None,
    max_minutes: float | None,
    allow_unknown_prices: bool | None,
    settings: Settings | None = None,
) -> dict[str, Any]:
    """The limits that a command names, else those of the settings if they are given.

    A server has settings of its own: what the project's file says must reach it with the request.
    """
    given = {
        "max_cost_usd": max_cost,
        "max_tokens": max_tokens,
        "max_minutes": max_minutes,
        "allow_unknown_prices": allow_unknown_prices,
    }
    if settings is None:
        return given
    default = {
        "max_cost_usd": settings.max_cost,
        "max_tokens": settings.max_tokens,
        "max_minutes": settings.max_minutes,
        "allow_unknown_prices": settings.allow_unknown_prices or None,
    }
    return {name: default[name] if one is None else one for name, one in given.items()}
