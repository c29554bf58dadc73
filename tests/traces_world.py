"""Spans as an exporter sends them, and an exporter that does what a test wants."""

import time

import httpx2
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from arena.traces.target import TraceTarget

PROTOBUF = "application/x-protobuf"


def spans(target: TraceTarget, *tools: str, root: bool = False) -> ExportTraceServiceRequest:
    """Calls of these tools in the question's trace, and its root span, with the ids 1, 2, 3…"""
    request = ExportTraceServiceRequest()
    scope = request.resource_spans.add().scope_spans.add()
    for number, tool in enumerate(tools, 1):
        span = scope.spans.add(span_id=number.to_bytes(8, "big"), start_time_unix_nano=number)
        span.attributes.add(key="gen_ai.operation.name").value.string_value = "execute_tool"
        span.attributes.add(key="gen_ai.tool.name").value.string_value = tool
    if root:
        now = time.time_ns()
        parent = bytes.fromhex(target.span_id)
        scope.spans.add(span_id=b"theroot!", parent_span_id=parent, end_time_unix_nano=now)
    for span in scope.spans:
        span.trace_id = bytes.fromhex(target.trace_id)
    return request


class Post:
    """An exporter that does what a test wants, also what no exporter does."""

    def __init__(self, client: httpx2.AsyncClient) -> None:
        self._client = client

    async def __call__(
        self, target: TraceTarget, body, *, path="/v1/traces", token=None, **headers: str
    ) -> httpx2.Response:
        content = body if isinstance(body, bytes) else body.SerializeToString()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        fixed = {"content-type": PROTOBUF, "authorization": f"Bearer {token or target.token}"}
        return await self._client.post(
            target.endpoint + path, content=content, headers=fixed | named
        )


def refused(response: httpx2.Response) -> int:
    assert response.status_code == 200
    return ExportTraceServiceResponse.FromString(response.content).partial_success.rejected_spans
