"""The usage of an answer: tokens, model and cost."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar, cast

from arena.text import storable

_MAX_TOKENS = 2_000_000_000
"""Fits an integer column everywhere; a larger figure is a mistake."""
_MAX_MODEL_LENGTH = 200

Number = TypeVar("Number", int, float)


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """The usage of an answer; None means unknown, never zero."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    model: str | None = None
    cost_usd: float | None = None

    @property
    def tokens(self) -> int | None:
        """Input and output tokens together; None if one of them is unknown."""
        if self.input_tokens is None or self.output_tokens is None:
            return None
        return self.input_tokens + self.output_tokens


def usage_from(value: object) -> Usage:
    """The usage that an agent or endpoint reports; invalid values are unknown."""
    if not isinstance(value, Mapping):
        return Usage()
    fields = cast(Mapping[str, object], value)
    model = fields.get("model")
    return Usage(
        input_tokens=_tokens(fields.get("input_tokens")),
        output_tokens=_tokens(fields.get("output_tokens")),
        model=storable(model)[:_MAX_MODEL_LENGTH] if isinstance(model, str) else None,
        cost_usd=_dollars(fields.get("cost_usd")),
    )


def priced(usage: Usage, *, base_url: str | None = None, cached_tokens: int = 0) -> Usage:
    """`usage` with its cost, from the price list that genai-prices ships; unknown stays None."""
    if usage.cost_usd is not None or not usage.model:
        return usage
    if usage.input_tokens is None or usage.output_tokens is None:
        return usage
    # Imported on first use: the price list takes half a second to load.
    import genai_prices

    tokens = genai_prices.Usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=min(cached_tokens, usage.input_tokens),
    )
    # The provider's own price first; behind a gateway or a proxy, the price by the model's name.
    for provider in (base_url, None) if base_url else (None,):
        try:
            price = genai_prices.calc_price(tokens, usage.model, provider_api_url=provider)
        except (LookupError, ValueError):
            continue
        return replace(usage, cost_usd=float(price.total_price))
    return usage


def summed(usages: Sequence[Usage]) -> Usage:
    """All of them together; unknown if one of them is: a sum without it would look cheaper."""
    return Usage(
        input_tokens=_tokens(_sum([usage.input_tokens for usage in usages])),
        output_tokens=_tokens(_sum([usage.output_tokens for usage in usages])),
        model=next((usage.model for usage in reversed(usages) if usage.model), None),
        cost_usd=_dollars(_sum([usage.cost_usd for usage in usages])),
    )


def _sum(numbers: Sequence[Number | None]) -> Number | None:
    known = [number for number in numbers if number is not None]
    return sum(known, start=cast(Number, 0)) if len(known) == len(numbers) else None


def has_price(model: str, *, base_url: str | None = None) -> bool:
    """Whether the price list has this model; it takes half a second to load."""
    usage = Usage(input_tokens=1000, output_tokens=1000, model=model)
    return priced(usage, base_url=base_url).cost_usd is not None


def _tokens(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    # The range first: it excludes NaN, and integers too large for a float.
    return int(value) if 0 <= value <= _MAX_TOKENS and value == int(value) else None


def _dollars(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= 1e9 else None
