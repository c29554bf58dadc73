"""A run as a page: how it went, and each result with its evidence."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from arena.catalog.test import Test
from arena.dashboard.report import numbers
from arena.dashboard.report.filters import choice, filter_bar, search_field
from arena.dashboard.report.frame import facts, frame
from arena.dashboard.report.markup import Html, element, joined, untrusted
from arena.operations.runs import RunDetails
from arena.runs.run import Result, Run

MOST_CHARACTERS = 4_000
"""Of a prompt or an answer; the data beside the page has all of it."""

REASON_CHARACTERS = 160

OUTCOMES = {True: "passed", False: "failed", None: "awaiting"}
"""The last: people have not judged it yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """All of a run."""

    details: RunDetails
    results: list[Result]
    tests: Mapping[str, Test]
    """What was asked, as far as it was fetched."""


def run_page(report: RunReport, data_name: str) -> str:
    """The whole page."""
    run = report.details.run
    name = f"{run.agent_id} {run.agent_version}"
    lead = joined(
        f"Benchmark run of {run.created_at:%d %B %Y, %H:%M} UTC · ",
        _status(run),
        f" · {run.id}",
    )
    categories = sorted({result.category for result in report.results})
    outcomes = sorted({OUTCOMES[result.passed] for result in report.results})
    bar = filter_bar(
        choice("outcome", "Outcome", "All", outcomes),
        choice("category", "Category", "All categories", categories),
        search_field("Test, reason or answer"),
    )
    main = joined(
        facts(_facts(run)),
        _errors(report.details),
        element("h2", "Results"),
        bar if report.results else element("p", "There is no result yet."),
        *(_result(result, report.tests.get(result.test_id)) for result in report.results),
    )
    return frame(title=name, heading=name, lead=lead, main=main, data_name=data_name)


def _status(run: Run) -> Html:
    told = run.status if run.is_full else f"{run.status}, some tests only"
    return element("span", told)


def _facts(run: Run) -> list[tuple[str, str, str | None]]:
    points = f"{run.points_earned:g} of {run.points_possible:g}"
    tokens = None
    if run.input_tokens is not None or run.output_tokens is not None:
        tokens = (run.input_tokens or 0) + (run.output_tokens or 0)
    return [
        ("Score", numbers.percent(run.score_percent), None),
        ("Passed", f"{run.passed_tests} of {run.total_tests}", None),
        ("Points", points, numbers.percent(run.points_percent)),
        ("Not executed", numbers.count(run.errored_tests), "by fault of the infrastructure"),
        ("Tokens", numbers.count(tokens), None),
        ("Cost", numbers.dollars(run.cost_usd), f"known of {run.costed_tests} results"),
    ]


def _errors(details: RunDetails) -> Html | None:
    if not details.errors and not details.run.error_message:
        return None
    told = [
        element("li", f"{one.test_id} (trial {one.trial}): ", untrusted(one.reason))
        for one in details.errors
    ]
    return element(
        "section",
        element("h2", "Not executed"),
        element("p", untrusted(details.run.error_message or "Some tests could not be asked.")),
        element("ul", *told),
        class_="notice",
    )


def _result(result: Result, test: Test | None) -> Html:
    outcome = OUTCOMES[result.passed]
    answer = _output(result)
    reason = result.failure_reason or ""
    name = test.name if test else result.test_id
    trial = f" · trial {result.trial}" if result.trial > 1 else ""
    summary = element(
        "summary",
        element("span", outcome, class_=outcome),
        element(
            "span",
            element("span", untrusted(name), class_="name"),
            element("span", f" {result.test_id}{trial}", class_="quiet"),
        ),
        element("span", untrusted(_cut(reason, REASON_CHARACTERS)), class_="why quiet"),
        element("span", numbers.seconds(result.duration_seconds), class_="took quiet"),
    )
    found = f"{result.test_id} {name} {reason} {(answer or '')[:500]}".lower()
    return element(
        "details",
        summary,
        _inside(result, test, answer),
        class_="result",
        data_outcome=outcome,
        data_category=result.category,
        data_find=found,
    )


def _inside(result: Result, test: Test | None, answer: str | None) -> Html:
    return element(
        "div",
        element("h3", "Verdict"),
        element("p", untrusted(result.failure_reason)) if result.failure_reason else None,
        _findings(result),
        _block("Asked", test.prompt) if test else None,
        _block("Answered", answer) if answer is not None else element("p", "It said nothing."),
        _block("Expected", json.dumps(test.expected, indent=2, ensure_ascii=False))
        if test
        else None,
        element("p", _told_of(result), class_="quiet"),
        class_="inside",
    )


def _findings(result: Result) -> Html | None:
    if not result.findings:
        return None
    lines: list[Html] = []
    for finding in result.findings:
        word = "passed" if finding.passed else "failed"
        evidence = joined(" ", element("q", untrusted(_cut(finding.evidence, MOST_CHARACTERS))))
        lines.append(
            element(
                "li",
                element("span", f"{word} ", class_=word),
                untrusted(_cut(finding.reason, MOST_CHARACTERS)),
                evidence if finding.evidence else None,
            )
        )
    return element("ul", *lines, class_="findings")


def _told_of(result: Result) -> str:
    return (
        f"{result.category} · {result.points_earned:g} of {result.points_possible:g} points · "
        f"score {numbers.score(result.score)} · {numbers.count(result.input_tokens)} tokens in, "
        f"{numbers.count(result.output_tokens)} out · {numbers.dollars(result.cost_usd)}"
    )


def _block(title: str, text: str) -> Html:
    shown = _cut(text, MOST_CHARACTERS)
    # What scrolls must be reachable by keyboard.
    body = element(
        "div",
        untrusted(shown),
        class_="text",
        dir="auto",
        tabindex="0",
        role="region",
        aria_label=title,
    )
    rest = len(text) - MOST_CHARACTERS
    note = element("p", f"and {rest:,} characters more", class_="quiet") if rest > 0 else None
    return joined(element("h3", title), body, note)


def _output(result: Result) -> str | None:
    """What the agent said; whatever else was kept of it, as JSON."""
    if result.actual_output is None:
        return None
    said = result.actual_output.get("output")
    if isinstance(said, str):
        return said
    return json.dumps(result.actual_output, indent=2, ensure_ascii=False)


def _cut(text: str | None, most: int) -> str:
    return "" if text is None else text if len(text) <= most else text[:most] + "…"
