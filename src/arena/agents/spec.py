"""How an agent is reached, as its file says it: one frozen class per type of connector.

These are plain values. `agent_file` checks them when a file is read, `connectors` turns one into
a living connector. No secret stands in them: only names of environment variables do.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, ConfigDict, Field, JsonValue

from arena.agents.spec_rules import (
    check_callable,
    check_command,
    check_headers,
    check_pointer,
    check_url,
    check_variable,
)

_STRICT = ConfigDict(extra="forbid", strict=True)

Url = Annotated[str, Field(max_length=2000), AfterValidator(check_url)]
Headers = Annotated[dict[str, str], AfterValidator(check_headers)]
Pointer = Annotated[str, Field(max_length=500), AfterValidator(check_pointer)]
VariableName = Annotated[str, AfterValidator(check_variable)]


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandSpec:
    """A program: one process per prompt, or a long-lived one that answers line by line."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    type: Literal["command"] = "command"
    command: Annotated[str, AfterValidator(check_command)]
    """Split into words as a shell would, but run without one; `{python}` is this interpreter."""
    persistent: bool = False
    env: tuple[VariableName, ...] = ()
    """Variables of Arena's environment that the program gets too; their values are secrets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonSpec:
    """A Python function that takes the prompt and returns the answer."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    type: Literal["python"] = "python"
    callable: Annotated[str, AfterValidator(check_callable)]
    """`module:function`; the module is looked for beside the agent's file first."""
    env: tuple[VariableName, ...] = ()
    """Variables of Arena's environment that the function gets too; their values are secrets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UsagePointers:
    """Where in a JSON answer the usage stands."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    input_tokens: Pointer | None = None
    output_tokens: Pointer | None = None
    model: Pointer | None = None
    cost_usd: Pointer | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpSpec:
    """An agent behind a URL that takes JSON by POST."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    type: Literal["http"] = "http"
    url: Url
    body: JsonValue = field(default_factory=lambda: {"prompt": "{prompt}"})
    """What is sent; `{prompt}`, `{id}` and `{timeout_seconds}` are filled in inside its strings."""
    headers: Headers = field(default_factory=dict[str, str])
    """Sent along; `${NAME}` stands for the environment variable NAME."""
    answer: Pointer | None = None
    """Where the answer stands: `/choices/0/text` or `choices.0.text`."""
    usage: UsagePointers = field(default_factory=UsagePointers)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAISpec:
    """A model behind an OpenAI-compatible chat endpoint."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    type: Literal["openai"] = "openai"
    base_url: Url
    model: Annotated[str, Field(min_length=1, max_length=200)]
    system: str | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    max_tokens: Annotated[int, Field(ge=1, le=10_000_000)] | None = None
    api_key_env: VariableName | None = None
    """The variable that holds the key; without it no key is sent (a local server)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class A2ASpec:
    """An agent that speaks the A2A protocol; `url` is where its card is found."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    type: Literal["a2a"] = "a2a"
    url: Url
    headers: Headers = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherSpec:
    """A connector that another package brings (entry point `arena.connectors`)."""

    type: str
    options: Mapping[str, JsonValue]
    """The other keys, unchecked: the package that brings the connector checks them."""


ConnectorSpec = CommandSpec | PythonSpec | HttpSpec | OpenAISpec | A2ASpec | OtherSpec

SPECS: Mapping[str, type[CommandSpec | PythonSpec | HttpSpec | OpenAISpec | A2ASpec]] = {
    "command": CommandSpec,
    "python": PythonSpec,
    "http": HttpSpec,
    "openai": OpenAISpec,
    "a2a": A2ASpec,
}
