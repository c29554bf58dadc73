"""Numbers as people read them; nothing known is a dash, never a zero."""

NOTHING = "–"


def score(value: float | None) -> str:
    """With one decimal; with two where it would read as all and is not."""
    if value is None:
        return NOTHING
    return f"{min(value, 99.99):.2f}" if 99.95 <= value < 100 else f"{value:.1f}"


def percent(value: float | None) -> str:
    """A score in per cent."""
    return NOTHING if value is None else f"{score(value)} %"


def count(value: float | None) -> str:
    """A whole number, with commas."""
    return NOTHING if value is None else f"{value:,.0f}"


def seconds(value: float | None) -> str:
    """A duration."""
    if value is None:
        return NOTHING
    return f"{value * 1000:.0f} ms" if value < 1 else f"{value:.1f} s"


def dollars(value: float | None) -> str:
    """A cost; small ones keep their digits."""
    if value is None:
        return NOTHING
    return f"${value:.2f}" if value >= 0.1 or value == 0 else f"${value:.3g}"
