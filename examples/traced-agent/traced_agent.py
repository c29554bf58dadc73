"""An agent made with pydantic-ai: it says nothing about its steps, its traces do."""

import re

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from pydantic_ai import Agent
from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel

# All that tracing needs: where to send spans to, and for which trace, comes from Arena.
provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
trace.set_tracer_provider(provider)
Agent.instrument_all()

WEATHER = {"bern": ("rain", 11), "oslo": ("snow", -3), "rome": ("sun", 24)}


def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Stands in for a language model, so that the example needs no network.

    It looks the weather up, converts the temperature if asked to, and then answers.
    """
    parts = [part for message in messages for part in message.parts]
    prompt = next(str(part.content) for part in parts if isinstance(part, UserPromptPart))
    results = {part.tool_name: part.content for part in parts if isinstance(part, ToolReturnPart)}
    city = next(iter(re.findall(r"\bin (\w+)", prompt)), "")
    if "weather" not in results:
        return ModelResponse(parts=[ToolCallPart("weather", {"city": city})])
    weather = results["weather"]
    if "error" in weather:
        return ModelResponse(parts=[TextPart(f"I do not know the weather in {city}.")])
    degrees, unit = weather["celsius"], "C"
    if "Fahrenheit" in prompt:
        if "to_fahrenheit" not in results:
            return ModelResponse(parts=[ToolCallPart("to_fahrenheit", {"celsius": degrees})])
        degrees, unit = results["to_fahrenheit"], "F"
    return ModelResponse(parts=[TextPart(f"{city}: {weather['sky']}, {degrees:g} {unit}.")])


agent = Agent(FunctionModel(model), name="traced-agent")


@agent.tool_plain
def weather(city: str) -> dict[str, object]:
    """The weather in a city now."""
    if city.lower() not in WEATHER:
        return {"error": f"no such city: {city}"}
    sky, celsius = WEATHER[city.lower()]
    return {"sky": sky, "celsius": celsius}


@agent.tool_plain
def to_fahrenheit(celsius: float) -> float:
    """A temperature in degrees Fahrenheit."""
    return celsius * 9 / 5 + 32


async def answer(prompt: str) -> str:
    result = await agent.run(prompt)
    return result.output
