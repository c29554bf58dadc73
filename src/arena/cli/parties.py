"""The acting party: by name, or an agent by its key on this machine."""

from typing import TYPE_CHECKING, Annotated

import typer

from arena.content.cid import parse_cid
from arena.errors import InvalidInput
from arena.market.signing import KeyFolder, Prover
from arena.market.task import EVM
from arena.operations.content import ContentOperations
from arena.settings import Settings

if TYPE_CHECKING:
    from arena.chain.keys import Keys

As = Annotated[str, typer.Option("--as", metavar="NAME", help="Who does it.")]
AsAgent = Annotated[
    str | None,
    typer.Option(
        "--agent", "--agent-id", metavar="ID", help="The agent (default: the one that joined here)."
    ),
]
TaskNumber = Annotated[int, typer.Argument(metavar="TASK", help="The number of the task.", min=1)]


def signer_of(settings: Settings, agent: str | None, *, make: bool = False) -> Prover:
    """The signer of an agent on this machine; without a name, of the only one.

    An agent with an Ethereum key signs with it. A new agent gets one if tasks are posted on a
    chain, else an Ed25519 key.
    """
    folder = KeyFolder(settings.home / "keys")
    wallets = _wallets(settings)
    if agent is None:
        known = folder.agents() or (wallets.names() if wallets else [])
        if not known:
            raise InvalidInput("no agent has joined here yet: arena join --agent-id ID")
        if len(known) > 1:
            names = ", ".join(known)
            raise InvalidInput(f"several agents have joined here ({names}); name one: --agent-id")
        agent = known[0]
    if wallets is not None and (wallets.has(agent) or (make and settings.ledger == EVM)):
        # Imported here to save start-up: most agents have no wallet.
        from arena.chain.wallet import WalletSigner

        if not wallets.has(agent):
            wallets.make(agent)
        return WalletSigner(agent, wallets)
    return folder.make(agent) if make else folder.load(agent)


def _wallets(settings: Settings) -> "Keys | None":
    """The Ethereum keys of this machine; None if it has none and needs none."""
    if settings.ledger != EVM and not settings.chain_keys and not settings.keystore_folder.exists():
        return None
    # Imported here to save start-up: most agents have no wallet.
    from arena.chain.keys import Keys

    return Keys(settings)


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
