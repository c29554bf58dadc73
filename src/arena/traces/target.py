"""Where the spans of one question go, and how an agent is told."""

from dataclasses import dataclass, field
from urllib.parse import quote

SEND_MILLISECONDS = 200
"""How often a long-lived process sends its spans; by default the SDKs wait for five seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceTarget:
    """Where the spans of one question go."""

    trace_id: str
    """32 hexadecimal digits, random: only the agent that got the question knows it."""
    span_id: str
    """16 hexadecimal digits: the parent of the agent's first span."""
    endpoint: str
    """The address of the receiver; traces are sent to its path /v1/traces."""
    token: str = field(repr=False)
    """Accepted for spans of this question alone, until it ends."""
    session_token: str = field(repr=False)
    """Accepted for all questions to this agent: a long-lived process sets its exporter up once."""

    @property
    def traceparent(self) -> str:
        """The context of the question, as W3C Trace Context writes it; it is sampled."""
        return f"00-{self.trace_id}-{self.span_id}-01"

    @property
    def headers(self) -> dict[str, str]:
        """What a request with spans of this question must have."""
        return {"authorization": f"Bearer {self.token}"}

    def as_json(self) -> dict[str, object]:
        """The `trace` in the JSON of a question."""
        return {
            "traceparent": self.traceparent,
            "endpoint": self.endpoint,
            "headers": self.headers,
        }

    def variables(self) -> dict[str, str]:
        """The environment of a process that gets this question alone."""
        return {"TRACEPARENT": self.traceparent} | _exporter(self.endpoint, self.token)

    def session_variables(self) -> dict[str, str]:
        """The environment of a process that gets many questions, this one first."""
        every = {"OTEL_BSP_SCHEDULE_DELAY": str(SEND_MILLISECONDS)}
        return every | _exporter(self.endpoint, self.session_token)

    def request_headers(self) -> dict[str, str]:
        """The headers of an HTTP request that asks this question."""
        return {
            "traceparent": self.traceparent,
            "arena-trace-endpoint": self.endpoint,
            "arena-trace-authorization": self.headers["authorization"],
        }


def _exporter(endpoint: str, token: str) -> dict[str, str]:
    """The variables that OpenTelemetry's SDKs read.

    Both of the general and of the traces' own, which win over the general ones.
    """
    # The values of these headers are percent-encoded, like those of W3C Baggage.
    headers = f"authorization={quote(f'Bearer {token}')}"
    return {
        "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint,
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": f"{endpoint}/v1/traces",
        "OTEL_EXPORTER_OTLP_HEADERS": headers,
        "OTEL_EXPORTER_OTLP_TRACES_HEADERS": headers,
        "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
        "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/protobuf",
        "OTEL_TRACES_EXPORTER": "otlp",
        "OTEL_METRICS_EXPORTER": "none",
        "OTEL_LOGS_EXPORTER": "none",
    }
