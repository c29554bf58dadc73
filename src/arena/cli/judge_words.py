"""Prints the figures of a judge."""

from arena.cli import output
from arena.cli.tables import print_table
from arena.evaluation.judge.agreement import Agreement
from arena.evaluation.judge.measure import OVERALL, Attack, Calibration
from arena.evaluation.verdict import Estimate, JudgeFigures
from arena.text import UNKNOWN


def estimate(figure: Estimate, digits: int = 2, *, signed: bool = False) -> str:
    """A figure with its interval: `0.81 (0.70 to 0.90)`."""
    form = f"{'+' if signed else ''}.{digits}f"
    if figure.value is None:
        return UNKNOWN
    value = format(figure.value, form)
    # Too few items for an interval.
    if figure.low is None or figure.high is None:
        return value
    return f"{value} ({format(figure.low, form)} to {format(figure.high, form)})"


def figures_text(figures: JudgeFigures | None) -> str:
    """The latest figures of a judge, in one line."""
    if figures is None:
        return "never measured against people: arena judge calibrate LABELS.jsonl"
    return (
        f"measured on {output.counted(figures.items, 'item')}: kappa {estimate(figures.kappa)}, "
        f"error {estimate(figures.mean_error, 1)}, bias {estimate(figures.bias, 1, signed=True)}, "
        f"passed once and failed once {_percent(figures.flips)}"
    )


def print_calibration(made: Calibration) -> None:
    """Print agreement by criterion, repeatability and cost."""
    figures = made.figures
    whole = Agreement(
        name=OVERALL,
        items=figures.items,
        kappa=figures.kappa,
        mean_error=figures.mean_error,
        bias=figures.bias,
    )
    rows = [
        (
            one.name,
            str(one.items),
            estimate(one.kappa),
            estimate(one.mean_error, 1),
            estimate(one.bias, 1, signed=True),
        )
        for one in (whole, *made.criteria)
    ]
    output.line(f"Judge {made.judge}: agreement with people")
    print_table(("criterion", "items", "kappa", "mean error", "bias"), rows, right=("items",))
    output.line("")
    output.line(f"Repeatability, {made.repeats} judgements of each item")
    output.line(f"  mean spread                  {estimate(figures.spread, 1)} points")
    output.line(f"  passed once and failed once  {_percent(figures.flips)} of the items")
    cost = "unknown" if made.cost_usd is None else f"${made.cost_usd:.4f}"
    tokens = [made.input_tokens, made.output_tokens]
    counts = " + ".join("unknown" if count is None else str(count) for count in tokens)
    output.line(f"Tokens {counts}, cost {cost}")
    output.line("Intervals: 95 %, bootstrap over the items with a fixed seed; for shares Wilson's.")


def print_attack(made: Attack) -> None:
    """Print the effect of the injections, by kind."""
    figures = made.figures
    rows = [
        (
            one.kind,
            str(one.pairs),
            str(one.moved),
            str(one.raised),
            str(one.flipped),
            f"{one.mean_shift:+.1f}",
            f"{one.most:+.1f}",
        )
        for one in made.kinds
    ]
    columns = ("kind", "pairs", "moved", "raised", "fail to pass", "mean shift", "most")
    output.line(f"Judge {made.judge}: injections against their harmless twins")
    print_table(columns, rows, right=columns[1:])
    output.line("")
    output.line(
        f"{figures.moved} of {figures.pairs} moved the score by more than {made.threshold:g} "
        f"points, {figures.raised} raised it, {figures.flipped} turned a fail into a pass; mean "
        f"shift {figures.mean_shift:+.1f}."
    )
    output.line(
        f"Without injections the judge varies by {made.noise:g} points on the same submission, and "
        f"{made.unsteady} of the {figures.pairs} passed once and failed once."
    )
    print_hardening(made)


def print_hardening(made: Attack) -> None:
    """Print the effect of the hardening, if it was measured."""
    if made.without is None:
        return
    bare, shift = made.without.bare, estimate(made.without.honest_shift, 1, signed=True)
    output.line(
        f"Without the hardening {bare.moved} moved the score, {bare.raised} raised it, "
        f"{bare.flipped} turned a fail into a pass; mean shift {bare.mean_shift:+.1f}."
    )
    output.line(f"The hardening itself moves the scores of harmless work by {shift} points.")


def _percent(share: Estimate) -> str:
    scaled = (None if one is None else 100 * one for one in (share.value, share.low, share.high))
    value, low, high = scaled
    text = estimate(Estimate(value=value, low=low, high=high), 0)
    return text if value is None else text.replace(" (", " % (", 1)
