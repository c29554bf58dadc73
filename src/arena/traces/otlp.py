"""OTLP over HTTP: a request's body becomes spans, and the answers that the protocol wants.

The messages are those of `opentelemetry-proto`; nothing is parsed by hand.
"""

import base64
import binascii
import json
import math
import zlib
from collections.abc import Iterable, Iterator
from typing import Any, cast

from google.protobuf import json_format
from google.protobuf.message import DecodeError, Message
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span as SpanMessage
from opentelemetry.proto.trace.v1.trace_pb2 import Status as SpanStatus

from arena.traces.span import ERROR_TYPE, READ, Span

MAX_BODY_BYTES = 4 * 1024 * 1024
"""Of a request, after decompression."""
MAX_REQUEST_SPANS = 10_000
TRACE_ID_BYTES, SPAN_ID_BYTES = 16, 8
PROTOBUF = "application/x-protobuf"
JSON = "application/json"

_MAX_ERROR_LENGTH = 2_000
_MAX_NAME_LENGTH = 200
_HEX_FIELDS = ("traceId", "spanId", "parentSpanId")
_SPAN_BYTES = 400
"""What a span takes in memory beside the values of its attributes, roughly."""


class BadRequest(Exception):
    """A request that cannot be taken; `status` is that of the response."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def read_request(body: bytes, media_type: str, *, is_gzip: bool) -> list[tuple[str, Span]]:
    """The spans in the body of a request, each with its trace id in hexadecimal digits."""
    if is_gzip:
        body = _decompressed(body)
    request = _from_json(body) if media_type == JSON else _from_protobuf(body)
    spans: list[tuple[str, Span]] = []
    for message in _span_messages(request):
        if len(spans) == MAX_REQUEST_SPANS:
            raise BadRequest(413, f"a request may have at most {MAX_REQUEST_SPANS:,} spans")
        if len(message.trace_id) == TRACE_ID_BYTES and len(message.span_id) == SPAN_ID_BYTES:
            spans.append((message.trace_id.hex(), _span(message)))
        else:
            spans.append(("", Span(id=b"")))  # of no question, and so refused
    return spans


def response(media_type: str, *, refused: int = 0, reason: str = "") -> bytes:
    """The body of a response of success; in part, if some spans were refused."""
    message = ExportTraceServiceResponse()
    if refused:
        message.partial_success.rejected_spans = refused
        message.partial_success.error_message = reason
    return _written(message, media_type)


def failure(media_type: str, reason: str) -> bytes:
    """The body of a response that is an error."""
    return _written(Status(message=reason), media_type)


def _written(message: Message, media_type: str) -> bytes:
    if media_type == JSON:
        return json_format.MessageToJson(message, indent=None).encode()
    return message.SerializeToString()


def _decompressed(body: bytes) -> bytes:
    """The content of a gzip stream, read only up to the limit."""
    whole = bytearray()
    rest = body
    try:
        while rest:  # a stream may have several members
            member = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
            whole += member.decompress(rest, MAX_BODY_BYTES + 1 - len(whole))
            if len(whole) > MAX_BODY_BYTES:
                raise BadRequest(413, f"a body may have at most {MAX_BODY_BYTES:,} bytes")
            if not member.eof:
                raise BadRequest(400, "the body is not whole")
            rest = member.unused_data
    except zlib.error:
        raise BadRequest(400, "the body is not gzip") from None
    return bytes(whole)


def _from_protobuf(body: bytes) -> ExportTraceServiceRequest:
    try:
        return ExportTraceServiceRequest.FromString(body)
    except DecodeError:
        raise BadRequest(400, "the body is not an ExportTraceServiceRequest") from None


def _from_json(body: bytes) -> ExportTraceServiceRequest:
    try:
        value = json.loads(body)
        for span in _json_spans(value):
            for name in _HEX_FIELDS:
                # OTLP differs here from protobuf's own JSON, which is Base64.
                if name in span:
                    span[name] = base64.b64encode(binascii.unhexlify(span[name])).decode()
            span.pop("links", None)  # not read, and they have ids too
        return json_format.ParseDict(value, ExportTraceServiceRequest(), ignore_unknown_fields=True)
    except (ValueError, TypeError, RecursionError, json_format.ParseError):
        raise BadRequest(400, "the body is not an ExportTraceServiceRequest in JSON") from None


def _json_spans(value: object) -> Iterator[dict[str, Any]]:
    """Every span in a request in JSON; a `TypeError` if it has another form."""
    count = 0
    for resource in _objects(value, "resourceSpans"):
        for scope in _objects(resource, "scopeSpans"):
            for span in _objects(scope, "spans"):
                count += 1
                if count > MAX_REQUEST_SPANS:
                    raise BadRequest(413, f"a request may have at most {MAX_REQUEST_SPANS:,} spans")
                if not isinstance(span, dict):
                    raise TypeError
                yield cast(dict[str, Any], span)


def _objects(value: object, name: str) -> list[object]:
    if not isinstance(value, dict):
        raise TypeError
    listed = cast(dict[str, object], value).get(name)
    if listed is None:
        return []
    if not isinstance(listed, list):
        raise TypeError
    return cast(list[object], listed)


def _span_messages(request: ExportTraceServiceRequest) -> Iterator[SpanMessage]:
    for resource in request.resource_spans:
        for scope in resource.scope_spans:
            yield from scope.spans


def _span(message: SpanMessage) -> Span:
    attributes = _read_attributes(message.attributes)
    error = _error(message, attributes)
    parent_id = message.parent_span_id
    size = sum(each.ByteSize() for each in _kept(message.attributes)) + len(error or "")
    return Span(
        id=message.span_id,
        parent_id=parent_id if len(parent_id) == SPAN_ID_BYTES else b"",
        name=message.name[:_MAX_NAME_LENGTH],
        start_nanoseconds=message.start_time_unix_nano,
        end_nanoseconds=message.end_time_unix_nano,
        error=error,
        attributes=attributes,
        size=_SPAN_BYTES + size,
    )


def _error(message: SpanMessage, attributes: dict[str, Any]) -> str | None:
    """What went wrong, by the status of the span or its attribute `error.type`."""
    kind = attributes.get(ERROR_TYPE)
    if message.status.code != SpanStatus.STATUS_CODE_ERROR and not kind:
        return None
    return str(message.status.message or _exception(message) or kind or "error")[:_MAX_ERROR_LENGTH]


def _exception(message: SpanMessage) -> str | None:
    """The exception that was recorded in the span."""
    for event in message.events:
        if event.name == "exception":
            fields = {each.key: each.value.string_value for each in event.attributes}
            parts = (fields.get("exception.type"), fields.get("exception.message"))
            return ": ".join(part for part in parts if part) or None
    return None


def _kept(attributes: Iterable[KeyValue]) -> Iterator[KeyValue]:
    return (each for each in attributes if each.key in READ)


def _read_attributes(attributes: Iterable[KeyValue]) -> dict[str, Any]:
    return {each.key: _value(each.value) for each in _kept(attributes)}


def _value(value: AnyValue) -> Any:
    """An attribute's value as a JSON value."""
    match value.WhichOneof("value"):
        case "string_value":
            return value.string_value
        case "bool_value":
            return value.bool_value
        case "int_value":
            return value.int_value
        case "double_value":
            # JSON has no infinity, and no number that is none.
            number = value.double_value
            return number if math.isfinite(number) else str(number)
        case "array_value":
            return [_value(each) for each in value.array_value.values]
        case "kvlist_value":
            return {each.key: _value(each.value) for each in value.kvlist_value.values}
        case "bytes_value":
            return base64.b64encode(value.bytes_value).decode()
        case _:
            return None
