"""Settings of what is outside Arena: the queue, simulated users, pushes, content, the chain."""

import re
from typing import Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, Field, SecretStr, field_validator

from arena.fields import MAX_NAME_LENGTH
from arena.team import DEFAULT_TEAM


class NetworkSettings(BaseModel):
    """Part of `Settings`, which has the rules for reading them."""

    dispatch: Literal["embedded", "queued"] = "embedded"
    """Who executes runs: this process, or workers that share them through PostgreSQL (`queued`,
    needs a PostgreSQL database and the extra `distributed`)."""
    queue_listen: bool = True
    """Whether workers are notified of new work. False polls once a second: for a connection pooler
    that does not pass notifications on."""
    user_base_url: str | None = None
    """OpenAI-compatible endpoint of the model that plays simulated users."""
    user_api_key: SecretStr | None = None
    user_model: str | None = Field(default=None, min_length=1, max_length=200)
    """The model that plays simulated users."""
    user_temperature: float | None = Field(default=None, ge=0, le=2)
    user_max_tokens: int | None = Field(default=None, ge=1)
    """Token limit of one message. Like the temperature, it is sent only if set."""
    user_concurrency: int = Field(default=8, ge=1, le=1000)
    """Concurrent requests to the endpoint."""
    user_per_minute: int | None = Field(default=None, ge=1)
    """Requests per minute."""
    user_timeout_seconds: float = Field(default=120, gt=0, le=3600)
    user_retries: int = Field(default=3, ge=0, le=20)
    """Retries of a message after an error or an invalid answer."""
    user_judged: bool = False
    """Whether the judge also scores how well a simulated user kept to its script."""
    max_cost: float | None = Field(default=None, gt=0, le=1e9, allow_inf_nan=False)
    """US dollars that a run may spend, judges and simulated users included. Default: no limit."""
    max_tokens: int | None = Field(default=None, ge=1, lt=2**53)
    """Tokens that a run may use, input and output together."""
    max_minutes: float | None = Field(default=None, gt=0, le=1e7, allow_inf_nan=False)
    """Minutes that a run may take."""
    allow_unknown_prices: bool = False
    """Whether a run with a budget may call models of unknown price: they count as nothing."""
    kubo_url: SecretStr | None = None
    """RPC address of a Kubo daemon, like http://127.0.0.1:5001: content is read from it, and
    published to it on request."""
    ipfs_gateways: tuple[str, ...] = ()
    """Addresses of IPFS gateways that content is read from, every block verified."""
    ipfs_timeout_seconds: float = Field(default=30, gt=0, le=3600)
    """How long to look for content that is not stored here."""
    push_max_mib: int = Field(default=64, ge=1, le=256)
    """Size of a run that is pushed to this server."""
    push_max_results: int = Field(default=50_000, ge=1, le=200_000)
    """Results of a run that is pushed."""
    push_quota_results: int | None = Field(default=None, ge=0)
    """Results of all pushed runs of a team; 0: no limit. Default: 1,000,000 with tokens, no limit
    without."""
    ledger: Literal["embedded", "evm"] = "embedded"
    """Where new tasks are posted: Arena's own ledger, or the contract on an EVM chain."""
    chain_url: SecretStr | None = None
    """JSON-RPC address of a node of the chain."""
    chain_id: int | None = Field(default=None, ge=1, lt=2**53)
    """The chain that the node must serve; another is refused. Default: the node's."""
    chain_contract: str | None = Field(default=None, pattern="^0x[0-9a-fA-F]{40}$")
    """Address of the market's contract."""
    chain_from_block: int = Field(default=0, ge=0)
    """The block in which the contract was deployed; older ones are not read."""
    chain_currency: str = Field(default="ETH", pattern="^[A-Z0-9]{2,10}$")
    """Name of the chain's own currency, in which tasks are paid."""
    chain_team: str = Field(default=DEFAULT_TEAM, min_length=1, max_length=MAX_NAME_LENGTH)
    """The team whose market the contract's tasks belong to."""
    chain_keys: tuple[SecretStr, ...] = ()
    """Private keys of parties on this machine, as `name:0x…`. Better: an encrypted keystore."""
    chain_password: SecretStr | None = None
    """Password of the keystore (`home/keystore`)."""
    chain_relayer: str | None = Field(default=None, min_length=1, max_length=MAX_NAME_LENGTH)
    """Whose key pays for the gas of agents and of timeouts. Default: that of the acting party, or
    the only key on this machine."""
    chain_confirmations: int = Field(default=2, ge=1, le=1000)
    """Blocks that a move needs to be final, its own included."""
    chain_max_fee_gwei: int = Field(default=200, ge=1, le=1_000_000)
    """The highest fee per unit of gas that is paid; above it nothing is sent."""
    chain_wait_seconds: float = Field(default=60, ge=0, le=3600)
    """How long a move waits until it is final; then its receipt is pending."""

    @property
    def is_queued(self) -> bool:
        """Whether workers execute runs, here or on other machines."""
        return self.dispatch == "queued"

    @field_validator("ipfs_gateways", "chain_keys", mode="before")
    @classmethod
    def _split_names(cls, value: object) -> object:
        return split(value, ",")

    @field_validator("chain_keys")
    @classmethod
    def _check_keys(cls, keys: tuple[SecretStr, ...]) -> tuple[SecretStr, ...]:
        for number, entry in enumerate(keys, start=1):
            name, _, key = entry.get_secret_value().partition(":")
            if not name or not re.fullmatch("0x[0-9a-fA-F]{64}", key):
                raise ValueError(f"entry {number} must be name:0x and 64 hexadecimal digits")
        names = [entry.get_secret_value().partition(":")[0] for entry in keys]
        if len(set(names)) < len(names):
            raise ValueError("two entries have the same name")
        return keys

    @field_validator("kubo_url", "chain_url")
    @classmethod
    def _check_secret_urls(cls, value: SecretStr | None) -> SecretStr | None:
        # Secret, because addresses of hosted nodes hold a key in their path.
        if value is not None:
            try:
                parts = urlsplit(value.get_secret_value())
                _ = parts.port
            except ValueError:
                raise ValueError("is not a valid address") from None
            if parts.scheme not in ("http", "https") or not parts.hostname:
                raise ValueError("must begin with http:// or https:// and name a host")
        return value

    @field_validator("user_base_url")
    @classmethod
    def _check_user_url(cls, url: str | None) -> str | None:
        if url is not None and (problem := address_problem(url)):
            raise ValueError(problem)
        return url

    @field_validator("user_api_key")
    @classmethod
    def _check_user_key(cls, key: SecretStr | None) -> SecretStr | None:
        return header_key(key)

    @field_validator("ipfs_gateways")
    @classmethod
    def _check_gateways(cls, urls: tuple[str, ...]) -> tuple[str, ...]:
        for url in urls:
            if problem := address_problem(url):
                raise ValueError(problem)
        return urls

    @property
    def has_user(self) -> bool:
        """Whether simulated users can be played."""
        return self.user_base_url is not None and self.user_model is not None

    @property
    def has_chain(self) -> bool:
        """Whether tasks on a chain can be read and moved."""
        return self.chain_url is not None and self.chain_contract is not None

    @property
    def key_by_party(self) -> dict[str, SecretStr]:
        """The private keys given in settings."""
        entries = (entry.get_secret_value().partition(":") for entry in self.chain_keys)
        return {name: SecretStr(key) for name, _, key in entries}


def split(value: object, separator: str) -> object:
    """The parts of a text; anything else as it is."""
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(separator) if part.strip())
    return value


def header_key(key: SecretStr | None) -> SecretStr | None:
    """A key that an HTTP header can carry; None if it is blank."""
    value = key.get_secret_value().strip() if key else ""
    if not (value.isascii() and value.isprintable()):
        raise ValueError("has characters that an HTTP header cannot carry")
    return SecretStr(value) if value else None


def address_problem(url: str) -> str | None:
    """Why `url` cannot be the address of a model's endpoint; None where it can."""
    try:
        parts = urlsplit(url)
        host, credentials = parts.hostname, parts.username or parts.password
        _ = parts.port
    except ValueError as error:
        return str(error)
    if parts.scheme not in ("http", "https") or not host:
        return "must be like https://api.example.com/v1"
    if credentials:
        return "must not hold a name or a password; the key has a setting of its own"
    if parts.query or parts.fragment:
        return "must not have a query or a fragment"
    return None
