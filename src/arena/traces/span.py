"""A span, reduced to what Arena reads of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

# The first attribute of each list that a span has is used. First the GenAI conventions, then what
# other conventions and frameworks write.
TOOL_NAMES = ("gen_ai.tool.name", "tool.name", "ai.toolCall.name", "traceloop.entity.name")
CALL_IDS = ("gen_ai.tool.call.id", "ai.toolCall.id", "tool_call.id")
ARGUMENTS = (
    "gen_ai.tool.call.arguments",
    "tool_arguments",  # pydantic-ai until its version 2 of instrumentation
    "gcp.vertex.agent.tool_call_args",  # Google ADK
    "ai.toolCall.args",  # Vercel's AI SDK
    "input.value",  # OpenInference
    "traceloop.entity.input",
    "mlflow.spanInputs",
)
RESULTS = (
    "gen_ai.tool.call.result",
    "tool_response",
    "gcp.vertex.agent.tool_response",
    "ai.toolCall.result",
    "output.value",
    "traceloop.entity.output",
    "mlflow.spanOutputs",
)
OPERATION = "gen_ai.operation.name"
KINDS = ("openinference.span.kind", "traceloop.span.kind", "mlflow.spanType", "ai.operationId")
INPUT_TOKENS = (
    "gen_ai.usage.input_tokens",
    "gen_ai.usage.prompt_tokens",
    "llm.token_count.prompt",
    "llm.usage.prompt_tokens",
    "ai.usage.inputTokens",
    "ai.usage.promptTokens",
)
OUTPUT_TOKENS = (
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.completion_tokens",
    "llm.token_count.completion",
    "llm.usage.completion_tokens",
    "ai.usage.outputTokens",
    "ai.usage.completionTokens",
)
AGENT_INPUT_TOKENS = ("gen_ai.aggregated_usage.input_tokens", *INPUT_TOKENS)
AGENT_OUTPUT_TOKENS = ("gen_ai.aggregated_usage.output_tokens", *OUTPUT_TOKENS)
MODELS = ("gen_ai.response.model", "gen_ai.request.model", "llm.model_name", "ai.model.id")
COST = ("operation.cost",)
ERROR_TYPE = "error.type"
REQUEST_TYPE = "llm.request.type"

READ = frozenset(
    (
        *(TOOL_NAMES + CALL_IDS + ARGUMENTS + RESULTS + KINDS + MODELS + COST),
        *(AGENT_INPUT_TOKENS + AGENT_OUTPUT_TOKENS),
        *(OPERATION, ERROR_TYPE, REQUEST_TYPE),
    )
)
"""Every attribute that is read. Others, such as whole conversations, are not kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One piece of work of an agent, as the agent described it."""

    id: bytes
    parent_id: bytes = b""
    name: str = ""
    start_nanoseconds: int = 0
    end_nanoseconds: int = 0
    error: str | None = None
    """What went wrong; None if its status is not an error."""
    attributes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    size: int = 0
    """Of what is kept of it, in bytes."""

    def first(self, names: tuple[str, ...]) -> Any:
        """The value of the first of these attributes that it has; None if it has none."""
        return next((self.attributes[name] for name in names if name in self.attributes), None)
