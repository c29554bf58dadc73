"""`arena evaluate`: judge a submission, or a file full of them."""

from pathlib import Path
from typing import Annotated, Any, cast

import typer

from arena import schemas
from arena.cli import output
from arena.cli.batch import Batch
from arena.cli.connection import connected, settings_of, wait_for
from arena.cli.files import read_json_file, read_text_file
from arena.cli.judge_words import told_figures
from arena.cli.options import Json, commands
from arena.client.connection import asked
from arena.content.cid import parse_cid
from arena.errors import Conflict, InvalidInput
from arena.settings import Settings

app = commands()

MAX_BYTES = 8 * 1024 * 1024
MAX_FINDINGS = 40
"""How many findings are shown; a standard may have thousands of cases."""
NOT_JUDGED = 3


StandardName = Annotated[
    str | None, typer.Argument(metavar="STANDARD", help="A JSON file, a CID, or -.")
]
SubmissionName = Annotated[
    str | None, typer.Argument(metavar="SUBMISSION", help="A file, or - for standard input.")
]
Language = Annotated[str | None, typer.Option(metavar="NAME", help="What the code is written in.")]
Answers = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="A person's answers to a checklist, as a JSON list."),
]
Fresh = Annotated[
    bool, typer.Option("--fresh", help="Ask a judge anew, even where it has judged this.")
]
Sealed = Annotated[
    str | None, typer.Option(metavar="FILE", help="The private part of a sealed standard.")
]
BatchFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Judge every line of a JSONL file instead.")
]
OutputFile = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="Of a batch: write there, resume."),
]
Concurrency = Annotated[
    int, typer.Option(min=1, max=1000, metavar="N", help="Of a batch: how many at a time.")
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
    """Judge a submission: exit 0 where it passes, 1 where it fails, 3 where nobody could judge."""
    settings = settings_of(context)
    if batch is not None:
        if standard or submission or language or answers or sealed:
            raise InvalidInput("--batch names everything in its lines; give nothing beside it")
        outcome = wait_for(_judge_batch(settings, Batch(batch, to, concurrency, fresh=fresh)))
        raise typer.Exit(outcome)
    if to is not None:
        raise InvalidInput("--output is for a batch; for one verdict use --json and >")
    if standard is None or submission is None:
        raise InvalidInput("name the standard and the submission: arena evaluate STANDARD CODE")
    if standard == submission == "-":
        raise InvalidInput("only one of the two can come from standard input")
    request = asked(
        schemas.Evaluate,
        standard=_standard(standard),
        submission=read_text_file(submission, max_bytes=MAX_BYTES),
        language=language,
        answers=_json(answers) if answers else [],
        fresh=fresh,
        sealed=_json(sealed) if sealed else None,
    )
    try:
        verdict = wait_for(_judge(settings, request))
    except Conflict as waiting:
        output.line(f"not judged: {waiting.message}; answer with --answers FILE")
        raise typer.Exit(NOT_JUDGED) from None
    if as_json:
        output.print_json(verdict)
    else:
        _print(verdict)
    raise typer.Exit(0 if verdict.passed else 1)


async def _judge(settings: Settings, request: schemas.Evaluate) -> schemas.Verdict:
    async with connected(settings) as client:
        return await client.evaluate(request)


async def _judge_batch(settings: Settings, batch: Batch) -> int:
    async with connected(settings) as client:
        return await batch.judge(client)


def _standard(name: str) -> Any:
    """The document in a file; the name itself where it is a CID and no file."""
    if name != "-" and not Path(name).exists():
        try:
            return str(parse_cid(name))
        except InvalidInput:
            pass  # then it is a file that is not there, and reading it says so
    document = _json(name)
    if not isinstance(document, dict):
        raise InvalidInput(f"{name}: a standard is a JSON object with its type")
    return cast(dict[str, Any], document)


def _json(name: str) -> Any:
    return read_json_file(name, max_bytes=MAX_BYTES)


def _print(verdict: schemas.Verdict) -> None:
    """The verdict for people: the outcome, why, and each finding."""
    screen = output.console()
    word = output.status("passed" if verdict.passed else "failed")
    ran = f"  ({verdict.engine})" if verdict.engine else ""
    screen.print(word, f" {verdict.score:g} of 100{ran}", sep="")
    screen.print(output.plain(verdict.reasoning))
    shown = sorted(verdict.findings, key=lambda finding: finding.passed)[:MAX_FINDINGS]
    is_graded = any(finding.score is not None for finding in shown)
    columns = ("", "criterion", "score", "why") if is_graded else ("", "criterion", "why")
    table = output.table("", *columns, right=("score",))
    for finding in [one for one in verdict.findings if one in shown]:
        told = f"{finding.reason} ({finding.mark})" if finding.mark else finding.reason
        score = [f"{finding.score:g}" if finding.score is not None else ""] if is_graded else []
        mark = "✔" if finding.passed else "✘"
        table.add_row(mark, output.plain(finding.criterion), *score, output.plain(told))
    screen.print(table)
    if len(verdict.findings) > len(shown):
        screen.print(f"… and {len(verdict.findings) - len(shown)} more (--json shows all)")
    if verdict.record_cid:
        screen.print(f"record {verdict.record_cid} (check it with: arena verify CID)")
    for judgement in _judgements(verdict):
        models = ", ".join(dict.fromkeys(vote.model for vote in judgement.votes))
        screen.print(output.plain(f"judged by {models}, {told_figures(judgement.figures)}"))


def _judgements(verdict: schemas.Verdict) -> list[schemas.Judgement]:
    """What models said, in the verdict and in its parts."""
    own = [verdict.judgement] if verdict.judgement else []
    return [*own, *(one for part in verdict.parts for one in _judgements(part))]
