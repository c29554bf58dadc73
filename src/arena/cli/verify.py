"""`arena verify`: check a verdict record."""

import json
from typing import Annotated, Any

import typer

from arena.cli import output
from arena.cli.connection import call
from arena.cli.options import Json, commands
from arena.cli.tables import print_table
from arena.evaluation.verdict import Verification
from arena.operations.evaluation import EvaluationOperations

app = commands()

# As for every command: 1 is a missed gate, 3 an obstacle on this machine.
EXIT = {"holds": 0, "texts_differ": 0, "differs": 1, "cannot_be_replayed": 3}
WORDS = {"cannot_be_replayed": "cannot be replayed", "texts_differ": "holds, except for its texts"}
MAX_SHOWN = 60


@app.command()
def verify(
    context: typer.Context,
    cid: Annotated[str, typer.Argument(metavar="CID", help="The CID of a verdict record.")],
    as_json: Json = False,
) -> None:
    """Check a verdict record: exit 0 if it holds, 1 if it differs, 3 if it cannot be replayed.

    The result of a record made by another version or engine can hold while its texts differ; they
    are listed then, and the exit code is 0. Every hash is checked, deterministic parts are judged
    again, and the rest is recomputed from the recorded votes and answers.
    """
    found = call(context, EvaluationOperations, lambda arena: arena.verify(cid))
    if as_json:
        output.print_json(found)
    else:
        _show(found)
    raise typer.Exit(EXIT[found.outcome])


def _show(found: Verification) -> None:
    result = "passed" if found.passed else "failed"
    made = f"{output.moment(found.made_at)} with Arena {found.made_with.arena}"
    output.line(f"{WORDS.get(found.outcome, found.outcome)}: {found.score:g} of 100, {result}")
    output.line(f"made {made}, Python {found.made_with.python}, {found.made_with.platform}")
    rows = [
        (one.path, _short(one.recorded), _short(one.recomputed))
        for one in (*found.differences, *found.texts)
    ]
    if rows:
        print_table(("where", "recorded", "comes out as"), rows, lines=3)
    for label, texts in (
        ("not replayed", found.obstacles),
        ("taken as recorded", found.taken),
        ("note", found.notes),
    ):
        for text in texts:
            output.line(f"{label}: {output.plain(text).plain}")


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"
