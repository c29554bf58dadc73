"""The connector section of an agent's file: one frozen class per type of connector.

These are plain values that pydantic checks when a file is read; `connectors` turns one into a
working connector. They hold no secrets, only names of environment variables, and no error message
quotes a value: it may be a misplaced secret.
"""

import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal, cast
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    JsonValue,
    Tag,
)

from arena.fields import STRICT

VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
REFERENCE = re.compile(r"\$\{([^}]*)\}")
"""`${NAME}`: the value of an environment variable, filled in when the agent is connected."""

PROMPT = "{prompt}"
"""Stands for the prompt in an argument of a command."""

_CALLABLE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", re.ASCII)
_SECRET_HEADER = re.compile(r"authorization|cookie|token|secret|password|api[-_]?key", re.I)
# Arena sets these itself; a second one would make the request invalid.
_OWN_HEADERS = {"content-length", "host", "transfer-encoding", "connection", "accept-encoding"}

_OWN_OPTIONS = {
    "model": "it is a key of the connector",
    "messages": "the prompt and 'system' become the messages",
    "stream": "Arena reads whole answers",
    "stream_options": "Arena reads whole answers",
    "n": "Arena asks once for each trial",
}
"""What the OpenAI connector sets itself, and why it is not an option."""


def _check_command(command: str) -> str:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ValueError(f"cannot be split into words: {error}") from None
    if not words or not words[0]:
        raise ValueError("names no program; write for example: python3 my_agent.py")
    if "\0" in command:
        raise ValueError("must not contain NUL")
    if PROMPT in words[0]:
        raise ValueError("must name a program first; {prompt} can be one of its arguments")
    return command


def _check_path(path: str) -> str:
    if not path.strip() or "\0" in path:
        raise ValueError("must be a path, for example .venv/bin/python or src")
    return path


def _check_image(image: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._/:@-]*", image):
        raise ValueError("must be the name of an image, for example python:3.11-slim")
    return image


def _check_network(network: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}", network):
        raise ValueError("must be none, bridge, or the name of a network")
    return network


def _check_mount(path: str) -> str:
    parts = _check_path(path).split("/")
    if path.startswith("/") or ".." in parts or ":" in path:
        raise ValueError("must be a path below the folder of the agent's file, without ':'")
    return path


def _check_callable(reference: str) -> str:
    if not _CALLABLE.fullmatch(reference):
        raise ValueError("must be module:function, for example my_agent:answer")
    return reference


def _check_variable(name: str) -> str:
    if not VARIABLE.fullmatch(name):
        raise ValueError("must be the name of an environment variable: letters, digits and _")
    return name


def _check_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise ValueError("is not a valid address") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise ValueError("must be an address that begins with http:// or https://")
    if parts.username is not None or parts.password is not None:
        raise ValueError("must not contain a user or password; use a header with ${NAME}")
    return url


def _check_headers(headers: Mapping[str, str]) -> Mapping[str, str]:
    for name, value in headers.items():
        if not _HEADER_NAME.fullmatch(name):
            raise ValueError("has a key that is not the name of a header")
        if name.lower() in _OWN_HEADERS:
            raise ValueError(f"has {name!r}, which is set by Arena itself; leave it out")
        if not value.isprintable():
            raise ValueError(f"must have one line of printable characters as {name!r}")
        for variable in REFERENCE.findall(value):
            if not VARIABLE.fullmatch(variable):
                raise ValueError(f"has a ${{...}} in {name!r} that is not the name of a variable")
        if _SECRET_HEADER.search(name) and not REFERENCE.search(value):
            raise ValueError(
                f"has a {name!r} that looks like a secret: put it in an environment variable"
                f" and write ${{NAME}} here"
            )
    return headers


def _check_options(options: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    for name, instead in _OWN_OPTIONS.items():
        if name in options:
            raise ValueError(f"must not have {name!r}: {instead}")
    return options


def _check_pointer(pointer: str) -> str:
    if not pointer.strip("/."):
        raise ValueError("must be a path such as /choices/0/text or choices.0.text")
    return pointer


Url = Annotated[str, Field(max_length=2000), AfterValidator(_check_url)]
Headers = Annotated[dict[str, str], AfterValidator(_check_headers)]
Pointer = Annotated[str, Field(max_length=500), AfterValidator(_check_pointer)]
VariableName = Annotated[str, AfterValidator(_check_variable)]


def _traces_keys(value: object) -> object:
    if isinstance(value, bool):
        return dict[str, object]() if value else None
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class TracesSpec:
    """How the spans of an agent are received."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    wait_seconds: Annotated[float, Field(ge=0, le=60)] = 1.0
    """How long Arena waits for late spans after an answer, at most."""
    port: Annotated[int, Field(ge=1, le=65535)] | None = None
    """Where the receiver listens, on loopback; without it a free port is chosen."""
    token_env: VariableName | None = None
    """The variable with the token of a long-lived process; without it the token is random."""


Traces = Annotated[TracesSpec | None, BeforeValidator(_traces_keys)]
"""`true` is the same as no keys, and `false` the same as leaving it out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceSpec:
    """A container that a program runs in, instead of this machine."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    image: Annotated[str, Field(max_length=300), AfterValidator(_check_image)]
    """The image; it must already be on the machine, or Docker pulls it."""
    network: Annotated[str, AfterValidator(_check_network)] = "none"
    """The network of the container: none, bridge, or the name of one."""
    mount: tuple[Annotated[str, AfterValidator(_check_mount)], ...] = ()
    """More files and folders of the agent, relative to its file, read-only below /agent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandSpec:
    """A program: one process per prompt, or a long-lived one that answers line by line."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    type: Literal["command"] = "command"
    command: Annotated[str, AfterValidator(_check_command)]
    """Split into words as a shell would, but run without one; `{python}` is this interpreter.

    `{prompt}` in an argument is replaced by the prompt.
    """
    input: Literal["json", "text", "none"] | None = None
    """What stdin gets. Default: the question as JSON; nothing if an argument has the prompt."""
    persistent: bool = False
    env: tuple[VariableName, ...] = ()
    """Variables of Arena's environment that the program gets too; their values are secrets."""
    place: PlaceSpec | None = None
    """A container to run in; null: this machine."""

    @property
    def has_prompt(self) -> bool:
        """Whether the prompt is passed as an argument."""
        return PROMPT in self.command

    @property
    def stdin(self) -> Literal["json", "text", "none"]:
        """What stdin gets."""
        return self.input or ("none" if self.has_prompt else "json")

    @property
    def can_converse(self) -> bool:
        """Whether the program gets the earlier messages of a conversation."""
        return self.stdin == "json"

    def __post_init__(self) -> None:
        if self.persistent and self.has_prompt:
            raise ValueError("must not have {prompt}: a persistent program reads its questions")
        if self.persistent and self.stdin != "json":
            raise ValueError("must not have 'input': a persistent program reads lines of JSON")
        if self.persistent and self.place is not None:
            raise ValueError("must not have 'place': a container answers one question")
        if self.stdin == "none" and not self.has_prompt:
            raise ValueError("must have {prompt} in its command if 'input' is none")


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonSpec:
    """A Python function that takes the prompt and returns the answer."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    type: Literal["python"] = "python"
    callable: Annotated[str, AfterValidator(_check_callable)]
    """`module:function`; the module is searched next to the agent's file first."""
    python: Annotated[str, AfterValidator(_check_path)] | None = None
    """Its interpreter: a path relative to the agent's file, or a program in PATH."""
    path: tuple[Annotated[str, AfterValidator(_check_path)], ...] = ()
    """More folders with modules, relative to the agent's file, searched after that file's own."""
    env: tuple[VariableName, ...] = ()
    """Variables of Arena's environment that the function gets too; their values are secrets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UsagePointers:
    """Where the usage is in a JSON answer."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    input_tokens: Pointer | None = None
    output_tokens: Pointer | None = None
    model: Pointer | None = None
    cost_usd: Pointer | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpSpec:
    """An agent behind a URL that accepts JSON by POST."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    type: Literal["http"] = "http"
    url: Url
    body: JsonValue = field(default_factory=lambda: {"prompt": "{prompt}"})
    """The request body; `{prompt}`, `{id}`, `{timeout_seconds}`, `{turn}`, `{context}` and
    `{messages}` are replaced in its strings.

    So is `{workspace}`, by the files of a test as a compressed archive in base64.
    """
    headers: Headers = field(default_factory=dict[str, str])
    """Sent with every request; `${NAME}` is replaced by the environment variable NAME."""
    answer: Pointer | None = None
    """Where the answer is: `/choices/0/text` or `choices.0.text`."""
    cancel: bool = False
    """Whether to send DELETE to the status address of a job that nobody waits for any more."""
    usage: UsagePointers = field(default_factory=UsagePointers)

    @property
    def has_own_body(self) -> bool:
        """Whether the agent's file says what the body is."""
        return self.body != {"prompt": PROMPT}

    @property
    def can_converse(self) -> bool:
        """Whether the agent gets the earlier messages of a conversation, or its own id of it."""
        text = json.dumps(self.body)
        return not self.has_own_body or "{messages}" in text or "{context}" in text


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What a model costs."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    input_usd_per_million: Annotated[float, Field(ge=0, le=1e6)]
    """Dollars per million input tokens."""
    output_usd_per_million: Annotated[float, Field(ge=0, le=1e6)]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAISpec:
    """A model behind an OpenAI-compatible chat endpoint."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    type: Literal["openai"] = "openai"
    base_url: Url
    model: Annotated[str, Field(min_length=1, max_length=200)]
    system: str | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    max_tokens: Annotated[int, Field(ge=1, le=10_000_000)] | None = None
    options: Annotated[dict[str, JsonValue], AfterValidator(_check_options)] = field(
        default_factory=dict[str, JsonValue]
    )
    """Sent as they are in the body of every request: tools, response_format, reasoning_effort."""
    headers: Headers = field(default_factory=dict[str, str])
    """Sent with every request; `${NAME}` is replaced by the environment variable NAME."""
    price: Price | None = None
    """What the model costs; without it the price list knows it by the name `model`, or not."""
    api_key_env: VariableName | None = None
    """The variable that holds the key; without it no key is sent (a local server)."""

    def __post_init__(self) -> None:
        for name in ("temperature", "max_tokens"):
            if name in self.options and getattr(self, name) is not None:
                raise ValueError(f"must have {name!r} once: as a key, or among the options")
        if self.api_key_env and "authorization" in {name.lower() for name in self.headers}:
            raise ValueError("must have 'api_key_env' or a header 'Authorization', not both")


@dataclass(frozen=True, slots=True, kw_only=True)
class A2ASpec:
    """An agent that speaks the A2A protocol; `url` is the location of its card."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    type: Literal["a2a"] = "a2a"
    url: Url
    headers: Headers = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherSpec:
    """A connector from another package (entry point `arena.connectors`)."""

    type: str
    options: Mapping[str, JsonValue]
    """The other keys, unchecked: the package of the connector checks them."""


SPECS: Mapping[str, type[CommandSpec | PythonSpec | HttpSpec | OpenAISpec | A2ASpec]] = {
    "command": CommandSpec,
    "python": PythonSpec,
    "http": HttpSpec,
    "openai": OpenAISpec,
    "a2a": A2ASpec,
}

_OTHER = "other"


def _tag(value: object) -> str:
    keys = cast(dict[str, object], value) if isinstance(value, dict) else {}
    kind = keys.get("type")
    return kind if isinstance(kind, str) and kind in SPECS else _OTHER


def _split_options(value: object) -> object:
    if not isinstance(value, dict):
        return value
    keys = cast(dict[str, object], value)
    options = {key: option for key, option in keys.items() if key != "type"}
    return {"type": keys.get("type"), "options": options}


ConnectorSpec = Annotated[
    Annotated[CommandSpec, Tag("command")]
    | Annotated[PythonSpec, Tag("python")]
    | Annotated[HttpSpec, Tag("http")]
    | Annotated[OpenAISpec, Tag("openai")]
    | Annotated[A2ASpec, Tag("a2a")]
    | Annotated[OtherSpec, BeforeValidator(_split_options), Tag(_OTHER)],
    Discriminator(_tag),
]
"""Any of them, by `type`."""
