"""The page of two runs side by side."""

from arena.dashboard.report.markup import Html, element, facts, frame, joined, untrusted
from arena.runs.comparison import RunComparison
from arena.runs.differences import (
    Changes,
    changes_between,
    comparison_notes,
    comparison_verdict,
    counts_text,
    points_text,
    run_text,
)
from arena.text import UNKNOWN, percent_text, printable


def comparison_page(comparison: RunComparison) -> str:
    """Both runs, the verdict, every test that changed, and what to make of it."""
    first, second = comparison.first, comparison.second
    name = " → ".join(f"{run.agent_id} {run.agent_version}" for run in (first, second))
    lead = joined(
        *(
            element("p", f"{letter}: ", untrusted(run_text(run)))
            for letter, run in (("A", first), ("B", second))
        )
    )
    notes = [
        element("li", f"{note.label}: ", untrusted(note.detail))
        for note in comparison_notes(comparison)
    ]
    main = joined(
        facts(_facts(comparison)),
        element("p", comparison_verdict(comparison)),
        *(_section(changes) for changes in changes_between(comparison)),
        element("h2", "Notes") if notes else None,
        element("ul", *notes) if notes else None,
    )
    return frame(title=printable(name), heading=name, lead=lead, main=main)


def _facts(comparison: RunComparison) -> list[tuple[str, str, str | None]]:
    rates = (comparison.first_pass_rate, comparison.second_pass_rate)
    before, after = (percent_text(None if rate is None else 100 * rate) for rate in rates)
    difference, p_value = comparison.difference, comparison.p_value
    return [
        ("Tests in common", str(comparison.common_tests), f"{comparison.clusters} clusters"),
        ("A", before, "of the tests in common"),
        ("B", after, "of the tests in common"),
        (
            "Difference",
            UNKNOWN if difference is None else points_text(difference, comparison.interval),
            "significant" if comparison.significant else "not significant",
        ),
        ("p", UNKNOWN if p_value is None else f"{p_value:.3f}", None),
    ]


def _section(changes: Changes) -> Html:
    rows = [
        element(
            "tr",
            element("td", untrusted(one.test_id)),
            element("td", counts_text(one), class_="number"),
        )
        for one in changes.tests
    ]
    head = element("tr", element("th", "Test"), element("th", "Passed, A → B", class_="number"))
    table = element("table", element("thead", head), element("tbody", *rows))
    return joined(
        element("h2", f"{changes.title} ({len(changes.tests)})"),
        element("div", table, class_="wide", tabindex="0", role="region", aria_label=changes.title),
    )
