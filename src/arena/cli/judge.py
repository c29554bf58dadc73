"""`arena judge`: judge tasks, and measure the configured judge."""

from contextlib import aclosing
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from arena.cli import output
from arena.cli.connection import call, settings_of, wait_for
from arena.cli.judge_tasks import AtOnce, JudgeName, Once, Poll, Watch, judge_tasks
from arena.cli.judge_words import figures_text, print_attack, print_calibration
from arena.cli.options import Json, commands
from arena.cli.progress import progress
from arena.errors import InvalidInput
from arena.evaluation.judge import measure
from arena.evaluation.judge.corpus import twins
from arena.evaluation.judge.judge import ModelJudge
from arena.evaluation.judge.labels import Label, read_labels
from arena.evaluation.judge.measure import Attack, Calibration
from arena.operations.evaluation import EvaluationOperations
from arena.settings import Settings

app = commands("Judge submitted tasks; see and measure the models that judge.")


@app.callback(invoke_without_command=True)
def judge(
    context: typer.Context,
    name: JudgeName = None,
    watch: Watch = False,
    once: Once = False,
    poll: Poll = 5.0,
    at_once: AtOnce = 4,
) -> None:
    """Judge the tasks submitted to you; see which models judge, and how far to trust them."""
    if context.invoked_subcommand is None:
        judge_tasks(context, name, watch=watch, once=once, poll_seconds=poll, at_once=at_once)


@app.command("show")
def show(context: typer.Context, as_json: Json = False) -> None:
    """Show the judge of the settings and its latest figures."""
    found = call(context, EvaluationOperations, lambda arena: arena.judges())
    if as_json:
        output.print_json(found)
        return
    if not found.judges:
        output.line("no judge is set up: set ARENA_JUDGE_BASE_URL and ARENA_JUDGE_MODELS")
    for one in found.judges:
        votes = f", {one.votes} votes each" if one.votes > 1 else ""
        output.line(f"{one.id}  {', '.join(one.models)} at {one.base_url}{votes}")
        output.line(figures_text(one.calibration))
        if one.attack is None:
            output.line("never attacked: arena judge attack")
        else:
            hit = one.attack
            output.line(
                f"attacked with {hit.pairs} injections: {hit.moved} moved the score, {hit.raised} "
                f"raised it, {hit.flipped} turned a fail into a pass"
            )


@app.command("calibrate")
def calibrate(
    context: typer.Context,
    labels: Annotated[
        Path,
        typer.Argument(metavar="LABELS.jsonl", help="Submissions that people have scored."),
    ],
    repeats: Annotated[
        int, typer.Option(min=2, max=100, metavar="N", help="Judge each item N times.")
    ] = 3,
    as_json: Json = False,
) -> None:
    """Measure how well the judge agrees with people, and with itself.

    Each line of the file is an object: standard (a judge_prompt, or the name of a file that holds
    one), submission, and labels (a score for each criterion) or score (one for the whole). Nothing
    comes from the cache. The figures are kept as the judge's latest.
    """
    settings = _here(context)
    read = read_labels(labels)
    made = wait_for(_calibrate(settings, read, repeats, is_quiet=as_json))
    if as_json:
        output.print_json(asdict(made))
    else:
        print_calibration(made)


@app.command("attack")
def attack(
    context: typer.Context,
    bare: Annotated[
        bool, typer.Option("--bare", help="Also measure the effect of the hardening.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Measure how far injections can move the judge's scores.

    It judges every injection that comes with Arena and its harmless twin, which is the same work
    without the injection, the twin twice: what a judge moves by itself is not counted. With --bare
    it does all of it again with everything in one message and no rule about submissions.
    """
    settings = _here(context)
    made = wait_for(_attack(settings, bare=bare, is_quiet=as_json))
    if as_json:
        output.print_json(asdict(made))
    else:
        print_attack(made)


def _here(context: typer.Context) -> Settings:
    settings = settings_of(context)
    if settings.server:
        raise InvalidInput(
            "a judge is measured where it is configured: run this on the server's machine"
        )
    return settings


async def _calibrate(
    settings: Settings, labels: list[Label], repeats: int, *, is_quiet: bool
) -> Calibration:
    async with aclosing(ModelJudge(settings)) as judge:
        with progress("judging", len(labels) * repeats, is_quiet=is_quiet) as on_progress:
            return await measure.calibrate(judge, labels, repeats=repeats, on_progress=on_progress)


async def _attack(settings: Settings, *, bare: bool, is_quiet: bool) -> Attack:
    async with aclosing(ModelJudge(settings)) as judge:
        # Three judgements per pair: injected, harmless, harmless again; with --bare, twice that.
        total = (6 if bare else 3) * len(twins())
        with progress("attacking", total, is_quiet=is_quiet) as on_progress:
            return await measure.attack(judge, bare=bare, on_progress=on_progress)
