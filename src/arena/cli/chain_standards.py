"""`arena chain register-file`, `feedback` and `validate`: the registries of ERC-8004."""

from collections.abc import Awaitable, Callable
from typing import Annotated, TypeVar

import typer

from arena.assembly import Arena, open_arena
from arena.chain.answers import checksummed
from arena.chain.parties import Parties
from arena.chain.standards.erc8004 import (
    Feedback,
    IdentityRegistry,
    ReputationRegistry,
    ValidationAnswer,
    ValidationRegistry,
    keep,
    wallet_of,
)
from arena.chain.standards.feedback import settled_verdict
from arena.chain.standards.registration import (
    Registration,
    registration_of,
    write_registration,
)
from arena.cli import output
from arena.cli.connection import settings_of, wait_for
from arena.cli.options import Json
from arena.cli.parties import As, TaskNumber
from arena.errors import InvalidInput
from arena.pools.threads import WRITES
from arena.settings import Settings

T = TypeVar("T")

AgentNumber = Annotated[
    int, typer.Option("--agent-id", metavar="N", min=0, help="Its number in the registry.")
]


def add_to(app: typer.Typer) -> None:
    """Add these commands to a group."""
    app.command("register-file")(register_file)
    app.command("feedback")(feedback)
    app.command("validate")(validate)


def here(context: typer.Context, work: Callable[[Arena], Awaitable[T]]) -> T:
    """Do a command's work with the rooms of this process: the keys are on this machine."""
    settings = settings_of(context)
    if settings.server:
        raise InvalidInput("do this on the machine that has the keys, without --server")

    async def opened() -> T:
        async with open_arena(_without_tokens(settings)) as arena:
            return await work(arena)

    return wait_for(opened())


def _without_tokens(settings: Settings) -> Settings:
    # The user of this command can open the database anyway: tokens are for network callers.
    return settings.model_copy(update={"tokens": ()})


def parties_of(arena: Arena) -> Parties:
    """The names and addresses of the team."""
    return Parties(arena.database, arena.settings.team, arena.wallets)


def register_file(
    context: typer.Context,
    agent: Annotated[str, typer.Argument(metavar="AGENT", help="An agent of the market.")],
    registry: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="The Identity Registry that it is registered in."),
    ] = None,
    agent_id: Annotated[
        int | None,
        typer.Option("--agent-id", metavar="N", min=0, help="Its number there."),
    ] = None,
    url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="The Arena server that shows its reputation."),
    ] = None,
    description: Annotated[str | None, typer.Option(metavar="TEXT", help="What it does.")] = None,
    image: Annotated[str | None, typer.Option(metavar="URL", help="A picture of it.")] = None,
    as_json: Json = False,
) -> None:
    """Make the registration file of an agent (ERC-8004).

    It is stored, and its CID is printed. The agent's URI in the registry is ipfs:// and the CID.
    Without a number yet, register the agent with this file, then make it again with --registry and
    --agent-id and set the URI.
    """
    if (registry is None) != (agent_id is None):
        raise InvalidInput("give both --registry and --agent-id, or neither")

    async def make(arena: Arena) -> tuple[str, Registration]:
        team = arena.settings.team
        known = await arena.market.reader.agent(team, agent)
        wallet = await wallet_of(arena.market.reader, parties_of(arena), team, agent)
        registered = None
        if registry is not None and agent_id is not None:
            identity = IdentityRegistry(arena.caller, registry)
            registered = await identity.check_agent(agent_id, agent=agent, wallet=wallet)
        made = registration_of(
            known,
            wallet=f"{await arena.caller.network()}:{checksummed(wallet)}",
            market_url=url,
            description=description,
            image=image,
            registered=registered,
        )
        return await WRITES.run(keep, arena.content, write_registration(made)), made

    cid, made = here(context, make)
    if as_json:
        output.print_json({"cid": cid, "file": made})
        return
    output.line(write_registration(made).decode())
    output.line(f"stored as {cid}; publish it with: arena content publish {cid}")
    output.line(f"the agent's URI is ipfs://{cid}")


def feedback(
    context: typer.Context,
    task_id: TaskNumber,
    registry: Annotated[
        str, typer.Option(metavar="ADDRESS", help="The Reputation Registry (ERC-8004).")
    ],
    agent_id: AgentNumber,
    by: As,
    as_json: Json = False,
) -> None:
    """Give a task's verdict as feedback (ERC-8004).

    Once, to the agent of a settled task. The poster and the judge may do it. What is on the chain
    is public and stays.
    """

    async def give(arena: Arena) -> Feedback:
        team = arena.settings.team
        task = await arena.market.reader.task(team, task_id)
        settled = await settled_verdict(arena.content, task)
        wallet = await wallet_of(arena.market.reader, parties_of(arena), team, settled.agent)
        given = ReputationRegistry(arena.caller, registry)
        return await given.give(arena.content, settled, agent_id, wallet=wallet, by=by)

    output.show(here(context, give), _print_feedback, as_json=as_json)


def _print_feedback(given: Feedback) -> None:
    number = "" if given.index is None else f", number {given.index} of this client"
    output.line(f"feedback {given.value} for agent {given.agent_id} of {given.registry}{number}")
    output.line(f"file {given.file_cid}, verdict {given.record_cid}")
    output.line(f"transaction {given.sent.transaction_hash} ({given.sent.status})")


def validate(
    context: typer.Context,
    task_id: TaskNumber,
    registry: Annotated[
        str, typer.Option(metavar="ADDRESS", help="The Validation Registry (ERC-8004).")
    ],
    request: Annotated[
        str, typer.Option(metavar="HASH", help="The request: 0x and 64 hexadecimal digits.")
    ],
    by: As,
    as_json: Json = False,
) -> None:
    """Answer a request with a task's verdict (ERC-8004).

    The request is for validation, and the task is settled. Only its judge may do it, and only if
    the request names the judge's address as the validator.
    """

    async def respond(arena: Arena) -> ValidationAnswer:
        team = arena.settings.team
        task = await arena.market.reader.task(team, task_id)
        settled = await settled_verdict(arena.content, task)
        wallet = await wallet_of(arena.market.reader, parties_of(arena), team, settled.agent)
        named = ValidationRegistry(arena.caller, registry)
        return await named.respond(settled, request, wallet=wallet, by=by)

    output.show(here(context, respond), _print_answer, as_json=as_json)


def _print_answer(given: ValidationAnswer) -> None:
    output.line(
        f"response {given.response} to request {given.request} for agent {given.agent_id} of "
        f"{given.registry}"
    )
    output.line(f"verdict {given.record_cid}")
    output.line(f"transaction {given.sent.transaction_hash} ({given.sent.status})")
