"""The pages: a run with each result and its evidence, and the leaderboard."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from arena.catalog.suite import short_version
from arena.catalog.test import Test
from arena.dashboard.report.acting import conversation, simulated_user, workspace
from arena.dashboard.report.markup import (
    Html,
    choice,
    element,
    facts,
    filter_bar,
    frame,
    joined,
    search_field,
    untrusted,
)
from arena.dashboard.report.standard import standard
from arena.errors import InvalidInput
from arena.files import write_atomically
from arena.models.budget import Budget, Spent
from arena.models.step import SOURCES, Step
from arena.operations.runs import RunDetails
from arena.runs.run import Result, Run, RunStatus
from arena.scoring.board import Provenance
from arena.text import UNKNOWN, percent_text, score_text, seconds_text, to_unicode

PAGE = "index.html"
DATA = "report.json"

MOST_CHARACTERS = 4_000
"""Per prompt or answer; the data file next to the page has all of it."""

MOST_STEPS = 50
STEP_CHARACTERS = 400
"""Per argument or result of a step."""

REASON_CHARACTERS = 160

OUTCOMES = {True: "passed", False: "failed", None: "awaiting"}
"""None: reviewers have not judged it yet."""

CLAIM = "reported: executed elsewhere, a claim"

RANKS = {False: 0, None: 1, True: 2}
"""The order of outcomes: what needs attention comes first."""


def write_report(folder: Path, page: str, data: str) -> Path:
    """Write the page and its data, each atomically; other files in the folder are kept."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / DATA, to_unicode(data).encode())
        write_atomically(folder / PAGE, to_unicode(page).encode())
    except OSError as error:
        reason = error.strerror or str(error)
        raise InvalidInput(f"cannot write the report to {folder}: {reason}") from error
    return folder / PAGE


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """A run with all of its results."""

    details: RunDetails
    results: list[Result]
    tests: Mapping[str, Test]
    """By id, as far as they were fetched."""


def run_page(report: RunReport, data_name: str) -> str:
    """The page of a run."""
    run = report.details.run
    name = f"{run.agent_id} {run.agent_version}"
    lead = joined(
        f"Benchmark run of {run.created_at:%d %B %Y, %H:%M} UTC · ",
        run.state.replace("_", " ") + ("" if run.is_full else ", partial run"),
        f" · {run.id}",
        element("div", _suite(run)) if run.suite else None,
        element("div", element("b", CLAIM)) if run.provenance is Provenance.REPORTED else None,
    )
    has_trials = any(result.trial > 1 for result in report.results)
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
        bar if report.results else element("p", "There are no results yet."),
        *(
            _result(result, report.tests.get(result.test_id), has_trials)
            for result in _by_test(report.results)
        ),
    )
    return frame(title=name, heading=name, lead=lead, main=main, data_name=data_name)


def _suite(run: Run) -> Html:
    covered = f", {run.test_count} of its {run.suite_tests} tests" if run.suite_tests else ""
    return joined(
        "Suite ", untrusted(run.suite), f", version {short_version(run.suite_version)}{covered}"
    )


def _by_test(results: Sequence[Result]) -> list[Result]:
    """The trials of a test side by side; first tests with a failure, then those that await."""
    worst: dict[str, int] = {}
    place: dict[str, int] = {}
    for number, result in enumerate(results):
        rank = RANKS[result.passed]
        worst[result.test_id] = min(rank, worst.get(result.test_id, rank))
        place.setdefault(result.test_id, number)
    return sorted(results, key=lambda one: (worst[one.test_id], place[one.test_id], one.trial))


def _facts(run: Run) -> list[tuple[str, str, str | None]]:
    points = f"{run.points_earned:g} of {run.points_possible:g}"
    tokens = None
    if run.input_tokens is not None or run.output_tokens is not None:
        tokens = (run.input_tokens or 0) + (run.output_tokens or 0)
    limits = (run.spent or Spent()).limits(run.budget or Budget())
    return [
        ("Score", percent_text(run.score_percent), None),
        ("Passed", f"{run.passed_tests} of {run.total_tests}", None),
        ("Points", points, percent_text(run.points_percent)),
        ("Not executed", count(run.errored_tests), "not caused by the agent"),
        ("Tokens", count(tokens), None),
        ("Cost", dollars(run.cost_usd), f"of {run.costed_tests} results"),
        *(("Budget", limit.text, "judges included") for limit in limits),
    ]


def _errors(details: RunDetails) -> Html | None:
    if not details.errors and not details.run.error_message:
        return None
    errors = [
        element("li", f"{one.test_id} (trial {one.trial}): ", untrusted(one.reason))
        for one in details.errors
    ]
    is_stopped = details.run.status is RunStatus.BUDGET_EXCEEDED
    return element(
        "section",
        element("h2", "Stopped by its budget" if is_stopped else "Not executed"),
        element("p", untrusted(details.run.error_message or "Some tests could not be executed.")),
        element("ul", *errors),
        class_="notice",
    )


def _result(result: Result, test: Test | None, has_trials: bool) -> Html:
    outcome = OUTCOMES[result.passed]
    answer = _output(result)
    reason = result.failure_reason or ""
    name = test.name if test else result.test_id
    trial = f" · trial {result.trial}" if has_trials else ""
    cut = element("span", " cut", class_="cut") if result.is_cut else None
    summary = element(
        "summary",
        element("span", outcome, class_=outcome),
        element(
            "span",
            element("span", untrusted(name), class_="name"),
            element("span", f" {result.test_id}{trial}", class_="quiet"),
            cut,
        ),
        element("span", untrusted(_cut(reason, REASON_CHARACTERS)), class_="why quiet"),
        element("span", seconds_text(result.duration_seconds), class_="took quiet"),
    )
    # The start of the answer is enough to search in; all of it would double the page.
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
        element("p", untrusted(result.failure_reason), class_="reason")
        if result.failure_reason
        else None,
        _findings(result),
        *_exchange(result, test, answer),
        element("p", "Cut: the answer was longer; its beginning was kept.", class_="cut")
        if result.is_cut
        else None,
        _steps(result),
        simulated_user(result),
        workspace(result),
        joined(element("h3", "Standard"), standard(test.validation, test.expected))
        if test
        else None,
        element("p", _figures(result), class_="quiet"),
        class_="inside",
    )


def _exchange(result: Result, test: Test | None, answer: str | None) -> Iterator[Html | None]:
    """What was said: the conversation, or the prompt and the answer."""
    yield conversation(result) or (_block("Prompt", test.prompt) if test else None)
    if answer is None:
        yield element("p", "The agent returned no output.")
    elif not result.messages:
        yield _block("Answer", answer)


def _steps(result: Result) -> Html | None:
    if not result.steps:
        return None
    lines: list[Html] = []
    for step in result.steps[:MOST_STEPS]:
        call = json.dumps(step.arguments, ensure_ascii=False)
        returned = json.dumps(step.result, ensure_ascii=False)
        after = joined(" → ", untrusted(_cut(returned, STEP_CHARACTERS)))
        if step.error is not None:
            after = joined(" failed: ", untrusted(_cut(step.error, STEP_CHARACTERS)))
        lines.append(
            element(
                "li",
                element("b", untrusted(_cut(step.tool, STEP_CHARACTERS))),
                " ",
                untrusted(_cut(call, STEP_CHARACTERS)),
                after if step.result is not None or step.error is not None else None,
                " ",
                element("span", _origin(step), class_="quiet"),
            )
        )
    rest = len(result.steps) - MOST_STEPS
    more = element("p", f"and {rest:,} more steps", class_="quiet") if rest > 0 else None
    return joined(element("h3", "Steps"), element("ol", *lines), more)


def _origin(step: Step) -> str:
    turn = f"turn {step.turn}, " if step.turn else ""
    return turn + SOURCES[step.source]


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
                untrusted(_cut(f"{finding.criterion}: {finding.reason}", MOST_CHARACTERS)),
                evidence if finding.evidence else None,
            )
        )
    return element("ul", *lines, class_="findings")


def _figures(result: Result) -> str:
    return (
        f"{result.category} · {result.points_earned:g} of {result.points_possible:g} points · "
        f"score {score_text(result.score)} · {count(result.input_tokens)} tokens in, "
        f"{count(result.output_tokens)} out · {dollars(result.cost_usd)}"
    )


def _block(title: str, text: str) -> Html:
    shown = _cut(text, MOST_CHARACTERS)
    # A scroll area must be reachable by keyboard.
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
    note = element("p", f"and {rest:,} more characters", class_="quiet") if rest > 0 else None
    return joined(element("h3", title), body, note)


def _output(result: Result) -> str | None:
    """The agent's output; any other recorded value as JSON."""
    if result.actual_output is None:
        return None
    output = result.actual_output.get("output")
    if isinstance(output, str):
        return output
    if "user" in result.actual_output:
        return None  # the agent failed; what is kept is about the simulated user
    return json.dumps(result.actual_output, indent=2, ensure_ascii=False)


def _cut(text: str | None, most: int) -> str:
    return "" if text is None else text if len(text) <= most else text[:most] + "…"


def count(value: float | None) -> str:
    """A whole number, with commas."""
    return UNKNOWN if value is None else f"{value:,.0f}"


def dollars(value: float | None) -> str:
    """A cost; small amounts keep their digits."""
    if value is None:
        return UNKNOWN
    return f"${value:.2f}" if value >= 0.1 or value == 0 else f"${value:.3g}"
