"""Who acts: parties by name, agents by the key they have on this machine."""

from typing import Annotated

import typer

from arena.client import Client, Signer
from arena.errors import InvalidInput
from arena.market import Keys
from arena.settings import Settings

As = Annotated[str, typer.Option("--as", metavar="NAME", help="Who does it.")]
AsAgent = Annotated[
    str | None,
    typer.Option(
        "--agent", "--agent-id", metavar="ID", help="The agent (default: the one that joined here)."
    ),
]
TaskNumber = Annotated[int, typer.Argument(metavar="TASK", help="The number of the task.", min=1)]


def keys_of(settings: Settings) -> Keys:
    """The keys of the agents that work on this machine."""
    return Keys(settings.home / "keys")


def signer_of(settings: Settings, agent: str | None, *, make: bool = False) -> Signer:
    """An agent of this machine; where none is named, the only one there is."""
    keys = keys_of(settings)
    if agent is None:
        known = sorted(path.stem for path in keys.folder.glob("*.pem"))
        if len(known) != 1:
            told = (
                f"several agents have joined here ({', '.join(known)})"
                if known
                else ("no agent has joined here yet: arena join --agent-id ID")
            )
            raise InvalidInput(f"{told}; name one with --agent-id" if known else told)
        agent = known[0]
    return Signer(agent, keys.make(agent) if make else keys.load(agent))


def acting(client: Client, signer: Signer) -> Client:
    """The client, as this agent."""
    client.signer = signer
    return client
