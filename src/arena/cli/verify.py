"""`arena verify`: does a verdict record hold."""

import json
from typing import Annotated, Any

import typer

from arena import schemas
from arena.cli import output
from arena.cli.connection import connected, settings_of, wait_for
from arena.cli.options import Json, commands
from arena.cli.tables import print_table
from arena.settings import Settings

app = commands()

EXIT = {"holds": 0, "differs": 1, "cannot_be_replayed": 3}
WORDS = {"cannot_be_replayed": "cannot be replayed"}
MAX_SHOWN = 60


@app.command()
def verify(
    context: typer.Context,
    cid: Annotated[str, typer.Argument(metavar="CID", help="The name of a verdict record.")],
    as_json: Json = False,
) -> None:
    """Check a verdict record: exit 0 where it holds, 1 where it differs, 3 where neither is known.

    Every hash is checked, what is deterministic is judged anew, and what models and people said is
    added up anew.
    """

    async def ask(settings: Settings) -> schemas.Verification:
        async with connected(settings) as client:
            return await client.verify(cid)

    found = wait_for(ask(settings_of(context)))
    if as_json:
        output.print_json(found)
    else:
        _show(found)
    raise typer.Exit(EXIT[found.outcome])


def _show(found: schemas.Verification) -> None:
    said = "passed" if found.passed else "failed"
    made = f"{output.moment(found.made_at)} with Arena {found.made_with.arena}"
    output.line(f"{WORDS.get(found.outcome, found.outcome)}: {found.score:g} of 100, {said}")
    output.line(f"made {made}, Python {found.made_with.python}, {found.made_with.platform}")
    rows = [(one.path, _short(one.recorded), _short(one.recomputed)) for one in found.differences]
    if rows:
        print_table(("where", "recorded", "comes out as"), rows, lines=3)
    for told, why in ((found.obstacles, "not replayed"), (found.taken, "taken as recorded")):
        for one in told:
            output.line(f"{why}: {output.plain(one).plain}")
    for note in found.notes:
        output.line(f"note: {output.plain(note).plain}")


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"
