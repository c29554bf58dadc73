"""The registration file of an agent (ERC-8004, text of 2026-01-25): who it is, and where. Pure.

It is content: canonical JSON, which the agent's URI in an Identity Registry names by its CID.
"""

from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.alias_generators import to_camel

from arena.content.canonical import canonical, read_json
from arena.errors import InvalidInput
from arena.market.agents import MarketAgent

TYPE = "https://eips.ethereum.org/EIPS/eip-8004#registration-v1"
REPUTATION = "reputation"
"""The kind of trust that Arena's agents support: their judged tasks."""
CAMEL = ConfigDict(
    alias_generator=to_camel,
    validate_by_name=True,
    validate_by_alias=True,
    serialize_by_alias=True,
)
"""The standard's names are written like `agentId`."""


class NotARegistration(InvalidInput):
    """The content is not a registration file."""

    code = "not_a_registration"


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """Where an agent can be found: `web`, `A2A`, `MCP`, a wallet."""

    name: str
    endpoint: str
    version: str | None = None
    """Of the protocol."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredAgent:
    """An agent in an Identity Registry."""

    __pydantic_config__ = CAMEL

    agent_id: Annotated[int, Field(strict=True, ge=0)]
    agent_registry: str
    """`eip155:<chain>:<address>`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketEntry:
    """The agent in Arena's market; no part of the standard, which allows more fields."""

    agent: str
    version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """A registration file."""

    __pydantic_config__ = CAMEL

    type: Literal["https://eips.ethereum.org/EIPS/eip-8004#registration-v1"] = TYPE
    name: str
    description: str
    image: str | None = None
    services: tuple[Service, ...] = ()
    x402_support: bool = False
    active: bool = True
    registrations: tuple[RegisteredAgent, ...] = ()
    """Empty until the agent has a number: a registry gives it one for its URI."""
    supported_trust: tuple[str, ...] = (REPUTATION,)
    arena: MarketEntry | None = None


def registration_of(
    agent: MarketAgent,
    *,
    wallet: str | None,
    market_url: str | None = None,
    description: str | None = None,
    image: str | None = None,
    registered: RegisteredAgent | None = None,
) -> Registration:
    """The file of an agent of the market.

    `wallet` is its address with the chain (`eip155:<chain>:<address>`), `market_url` that of the
    server where its reputation can be read.
    """
    services: list[Service] = []
    if market_url is not None:
        endpoint = f"{market_url.rstrip('/')}/api/market/agents/{agent.id}"
        services.append(Service(name="reputation", endpoint=endpoint))
    if wallet is not None:
        services.append(Service(name="wallet", endpoint=wallet))
    return Registration(
        name=agent.id,
        description=description or f"{agent.id} {agent.version}, an agent in an Arena market",
        image=image,
        services=tuple(services),
        registrations=() if registered is None else (registered,),
        arena=MarketEntry(agent=agent.id, version=agent.version),
    )


def write_registration(registration: Registration) -> bytes:
    """The file as canonical JSON."""
    return canonical(_shape().dump_python(registration, mode="json", exclude_none=True))


def read_registration(data: bytes) -> Registration:
    """Parse a registration file; keys that the standard does not have are left out."""
    try:
        return _shape().validate_python(read_json(data))
    except (ValidationError, InvalidInput) as error:
        raise NotARegistration(f"not a registration file of ERC-8004: {_why(error)}") from None


def _why(error: ValidationError | InvalidInput) -> str:
    if isinstance(error, InvalidInput):
        return error.message
    first = error.errors()[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"


@cache
def _shape() -> TypeAdapter[Any]:
    # Built on first use: most commands write no such file.
    return TypeAdapter(Registration)
