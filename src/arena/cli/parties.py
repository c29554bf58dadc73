"""The acting party: by name, or an agent by its key on this machine."""

from typing import Annotated

import typer

from arena.content.cid import parse_cid
from arena.errors import InvalidInput
from arena.market.signing import KeyFolder, Signer
from arena.operations.content import ContentOperations
from arena.settings import Settings

As = Annotated[str, typer.Option("--as", metavar="NAME", help="Who does it.")]
AsAgent = Annotated[
    str | None,
    typer.Option(
        "--agent", "--agent-id", metavar="ID", help="The agent (default: the one that joined here)."
    ),
]
TaskNumber = Annotated[int, typer.Argument(metavar="TASK", help="The number of the task.", min=1)]


def signer_of(settings: Settings, agent: str | None, *, make: bool = False) -> Signer:
    """The signer of an agent on this machine; without a name, of the only one."""
    keys = KeyFolder(settings.home / "keys")
    if agent is None:
        known = keys.agents()
        if not known:
            raise InvalidInput("no agent has joined here yet: arena join --agent-id ID")
        if len(known) > 1:
            names = ", ".join(known)
            raise InvalidInput(f"several agents have joined here ({names}); name one: --agent-id")
        agent = known[0]
    return keys.make(agent) if make else keys.load(agent)


async def reason_uri(arena: ContentOperations, reason: str) -> str:
    """The URI of a reason: the given URL or CID, or the CID of the stored text."""
    if not reason.strip():
        raise InvalidInput("--reason is empty: give a text, a CID or a URL")
    if "://" in reason or _is_cid(reason):
        return reason
    return (await arena.put_content(reason.encode())).cid


def _is_cid(text: str) -> bool:
    try:
        parse_cid(text)
    except InvalidInput:
        return False
    return True
