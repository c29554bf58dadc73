"""`arena evaluate`: judge a submission, or a file full of them."""

from pathlib import Path
from typing import Annotated, Any

import typer

from arena.cli import output
from arena.cli.batch import Batch
from arena.cli.connection import call
from arena.cli.files import language_of, read_json_file, read_text_file, standard_named
from arena.cli.judge_words import figures_text
from arena.cli.options import Json, Language, commands
from arena.errors import Conflict, InvalidInput
from arena.evaluation.verdict import Judgement, Verdict
from arena.operations.evaluation import EvaluationOperations

app = commands()

MAX_BYTES = 8 * 1024 * 1024
MAX_FINDINGS = 40
"""How many findings are printed; a standard may have thousands of cases."""
NOT_JUDGED = 3


StandardName = Annotated[
    str | None, typer.Argument(metavar="STANDARD", help="A JSON file, a CID, or -.")
]
SubmissionName = Annotated[
    str | None, typer.Argument(metavar="SUBMISSION", help="A file, or - for standard input.")
]
Answers = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="A person's answers to a checklist, as a JSON list."),
]
Fresh = Annotated[
    bool, typer.Option("--fresh", help="Ask the judge even if its votes are in the cache.")
]
Sealed = Annotated[
    str | None, typer.Option(metavar="FILE", help="The private part of a sealed standard.")
]
BatchFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Judge every line of a JSONL file instead.")
]
OutputFile = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="With --batch: write to FILE, or resume."),
]
Concurrency = Annotated[
    int, typer.Option(min=1, max=1000, metavar="N", help="With --batch: evaluations at a time.")
]


@app.command()
def evaluate(
    context: typer.Context,
    standard: StandardName = None,
    submission: SubmissionName = None,
    language: Language = None,
    answers: Answers = None,
    sealed: Sealed = None,
    fresh: Fresh = False,
    batch: BatchFile = None,
    to: OutputFile = None,
    concurrency: Concurrency = 16,
    as_json: Json = False,
) -> None:
    """Judge a submission: exit 0 if it passes, 1 if it fails, 3 if it could not be judged."""
    if batch is not None:
        if standard or submission or language or answers or sealed:
            raise InvalidInput(
                "with --batch the lines of the file have everything: leave out the other arguments"
            )
        raise typer.Exit(
            call(context, EvaluationOperations, Batch(batch, to, concurrency, fresh=fresh).judge)
        )
    if to is not None:
        raise InvalidInput("--output is for a batch; for one verdict use --json and >")
    if standard is None or submission is None:
        raise InvalidInput("name the standard and the submission: arena evaluate STANDARD CODE")
    if standard == submission == "-":
        raise InvalidInput("only one of the two can come from standard input")
    document = standard_named(standard, max_bytes=MAX_BYTES)
    text = read_text_file(submission, max_bytes=MAX_BYTES)
    given: list[Any] = read_json_file(answers, max_bytes=MAX_BYTES) if answers else []
    private = read_json_file(sealed, max_bytes=MAX_BYTES) if sealed else None
    try:
        verdict = call(
            context,
            EvaluationOperations,
            lambda arena: arena.evaluate(
                standard=document,
                submission=text,
                language=language or language_of(submission),
                answers=given,
                fresh=fresh,
                sealed=private,
            ),
        )
    except Conflict as error:
        # A checklist that nobody has answered yet: the input itself is valid.
        output.line(f"not judged: {error.message}; answer with --answers FILE")
        raise typer.Exit(NOT_JUDGED) from None
    if as_json:
        output.print_json(verdict)
    else:
        _print(verdict)
    raise typer.Exit(0 if verdict.passed else 1)


def _print(verdict: Verdict) -> None:
    """The verdict for people: the outcome, why, and each finding."""
    screen = output.console()
    word = output.status("passed" if verdict.passed else "failed")
    ran = f"  ({verdict.engine})" if verdict.engine else ""
    screen.print(word, f" {verdict.score:g} of 100{ran}", sep="")
    screen.print(output.plain(verdict.reasoning))
    # Failed findings first, so that a shortened list still shows why it failed; below they are
    # printed in their own order.
    shown = sorted(verdict.findings, key=lambda finding: finding.passed)[:MAX_FINDINGS]
    is_graded = any(finding.score is not None for finding in shown)
    columns = ("", "criterion", "score", "why") if is_graded else ("", "criterion", "why")
    table = output.table("", *columns, right=("score",))
    for finding in [one for one in verdict.findings if one in shown]:
        reason = f"{finding.reason} ({finding.mark})" if finding.mark else finding.reason
        score = [f"{finding.score:g}" if finding.score is not None else ""] if is_graded else []
        mark = "✔" if finding.passed else "✘"
        table.add_row(mark, output.plain(finding.criterion), *score, output.plain(reason))
    screen.print(table)
    if len(verdict.findings) > len(shown):
        screen.print(f"… and {len(verdict.findings) - len(shown)} more (--json shows all)")
    if verdict.record_cid:
        screen.print(f"record {verdict.record_cid} (check it with: arena verify CID)")
    for judgement in _judgements(verdict):
        models = ", ".join(dict.fromkeys(vote.model for vote in judgement.votes))
        screen.print(output.plain(f"judged by {models}, {figures_text(judgement.figures)}"))


def _judgements(verdict: Verdict) -> list[Judgement]:
    """The judgements of models, in the verdict and in its parts."""
    own = [verdict.judgement] if verdict.judgement else []
    return [*own, *(one for part in verdict.parts for one in _judgements(part))]
