"""What tokens cost in dollars, from the price list of genai-prices (no network needed)."""

from arena.models.usage import Usage


def priced(usage: Usage, *, base_url: str | None = None, cached_tokens: int = 0) -> Usage:
    """`usage` with its cost where model and tokens are known; an unknown price stays None."""
    if usage.cost_usd is not None or not usage.model:
        return usage
    if usage.input_tokens is None or usage.output_tokens is None:
        return usage
    return Usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        model=usage.model,
        cost_usd=_cost_usd(usage.model, usage, base_url, cached_tokens),
    )


def _cost_usd(model: str, usage: Usage, base_url: str | None, cached_tokens: int) -> float | None:
    # Loaded on first use: the price list takes half a second to import.
    import genai_prices

    tokens = genai_prices.Usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=min(cached_tokens, usage.input_tokens or 0),
    )
    # A provider's own price first; behind a gateway or a proxy, the price by the model's name.
    for provider in (base_url, None) if base_url else (None,):
        try:
            price = genai_prices.calc_price(tokens, model, provider_api_url=provider)
        except (LookupError, ValueError):
            continue
        return float(price.total_price)
    return None
