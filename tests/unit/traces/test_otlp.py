"""Bodies of OTLP requests, real and hostile."""

import gzip
import json
import zlib

import pytest
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from arena.traces.otlp import (
    JSON,
    MAX_BODY_BYTES,
    MAX_REQUEST_SPANS,
    PROTOBUF,
    BadRequest,
    failure,
    read_request,
    response,
)

TRACE = "0af7651916cd43dd8448eb211c80319c"
SPAN = "b7ad6b7169203331"


def a_request(count: int = 1) -> ExportTraceServiceRequest:
    request = ExportTraceServiceRequest()
    scope = request.resource_spans.add().scope_spans.add()
    for number in range(count):
        span = scope.spans.add(trace_id=bytes.fromhex(TRACE), span_id=number.to_bytes(8, "big"))
        span.name = "execute_tool weather"
        span.start_time_unix_nano = 7
    return request


def with_attribute(fill) -> ExportTraceServiceRequest:
    request = a_request()
    span = request.resource_spans[0].scope_spans[0].spans[0]
    fill(span.attributes.add(key="gen_ai.tool.call.result").value)
    return request


def read(request: ExportTraceServiceRequest):
    return read_request(request.SerializeToString(), PROTOBUF, is_gzip=False)


def status_of(body: bytes, media_type: str = PROTOBUF, *, is_gzip: bool = False) -> int:
    with pytest.raises(BadRequest) as caught:
        read_request(body, media_type, is_gzip=is_gzip)
    return caught.value.status


# The example of OTLP's specification, shortened: ids are hexadecimal, numbers may be text.
EXAMPLE = {
    "resourceSpans": [
        {
            "resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "s"}}]},
            "scopeSpans": [
                {
                    "scope": {"name": "my.library", "version": "1.0.0"},
                    "spans": [
                        {
                            "traceId": TRACE.upper(),
                            "spanId": SPAN,
                            "parentSpanId": "eee19b7ec3c1b173",
                            "name": "execute_tool weather",
                            "kind": 2,
                            "startTimeUnixNano": "1544712660000000000",
                            "endTimeUnixNano": 1544712661000000000,
                            "attributes": [
                                {"key": "gen_ai.tool.name", "value": {"stringValue": "weather"}},
                                {
                                    "key": "gen_ai.tool.call.arguments",
                                    "value": {
                                        "kvlistValue": {
                                            "values": [{"key": "n", "value": {"intValue": "3"}}]
                                        }
                                    },
                                },
                            ],
                            "links": [{"traceId": TRACE, "spanId": SPAN}],
                            "aFieldOfTheFuture": {"x": 1},
                            "status": {"code": 2, "message": "no such city"},
                        }
                    ],
                }
            ],
        }
    ]
}


@pytest.mark.parametrize("is_gzip", [False, True])
def test_json_has_hexadecimal_ids(is_gzip):
    body = json.dumps(EXAMPLE).encode()
    body = gzip.compress(body) if is_gzip else body
    ((trace_id, span),) = read_request(body, JSON, is_gzip=is_gzip)
    assert (trace_id, span.id.hex()) == (TRACE, SPAN)
    assert span.parent_id.hex() == "eee19b7ec3c1b173"
    assert span.attributes == {
        "gen_ai.tool.name": "weather",
        "gen_ai.tool.call.arguments": {"n": 3},
    }
    assert span.error == "no such city"
    assert span.start_nanoseconds == 1544712660000000000


@pytest.mark.parametrize("is_gzip", [False, True])
def test_protobuf(is_gzip):
    body = a_request().SerializeToString()
    body = gzip.compress(body) if is_gzip else body
    ((trace_id, span),) = read_request(body, PROTOBUF, is_gzip=is_gzip)
    assert (trace_id, span.name) == (TRACE, "execute_tool weather")


def test_an_empty_request_has_no_spans():
    assert read_request(b"", PROTOBUF, is_gzip=False) == []
    assert read_request(b"{}", JSON, is_gzip=False) == []


def test_a_gzip_stream_of_several_members():
    raw = a_request().SerializeToString()
    body = gzip.compress(raw[:9]) + gzip.compress(raw[9:])
    assert len(read_request(body, PROTOBUF, is_gzip=True)) == 1


@pytest.mark.parametrize(
    "bomb",
    [
        gzip.compress(bytes(200 * 1024 * 1024)),
        gzip.compress(bytes(MAX_BODY_BYTES)) + gzip.compress(b"\0"),
        b"".join([gzip.compress(bytes(1024 * 1024))] * 5),
    ],
    ids=["one member", "just one byte too many", "many members"],
)
def test_a_bomb_is_refused_before_it_is_unpacked(bomb):
    assert status_of(bomb, is_gzip=True) == 413


@pytest.mark.parametrize(
    "body",
    [
        b"not gzip at all",
        gzip.compress(b"x" * 1000)[:-9],  # cut
        zlib.compress(b"deflate, not gzip"),
        gzip.compress(b"") + b"garbage",
    ],
    # The bytes have the time in them, and every worker must collect the same tests.
    ids=["text", "cut", "deflate", "garbage after it"],
)
def test_what_is_not_gzip_is_refused(body):
    assert status_of(body, is_gzip=True) == 400


@pytest.mark.parametrize(
    "body",
    [
        b"\xff" * 100,
        b"\x0a\xff\xff\xff\xff\x0f",  # says that gigabytes follow
        a_request(3).SerializeToString()[:-5],
        b"\x0a\x04\x12\x02\x12\x7f",
    ],
)
def test_garbage_protobuf_is_refused(body):
    assert status_of(body) == 400


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\xff\xfe",
        b"[]",
        b"7",
        b'{"resourceSpans": 7}',
        b'{"resourceSpans": [7]}',
        b'{"resourceSpans": [{"scopeSpans": [{"spans": [7]}]}]}',
        b'{"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "xyz"}]}]}]}',
        b'{"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": 7}]}]}]}',
        b'{"resourceSpans": [{"scopeSpans": [{"spans": [{"name": []}]}]}]}',
        b"[" * 100_000,
        b'{"resourceSpans":' * 5_000,
    ],
)
def test_json_of_another_form_is_refused(body):
    assert status_of(body, JSON) == 400


def test_a_request_of_too_many_spans_is_refused():
    assert status_of(a_request(MAX_REQUEST_SPANS + 1).SerializeToString()) == 413
    spans = [{}] * (MAX_REQUEST_SPANS + 1)
    body = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).encode()
    assert status_of(body, JSON) == 413


def test_values_nested_deeper_than_protobuf_allows_are_refused():
    def nest(value):
        for _ in range(120):
            value = value.array_value.values.add()

    assert status_of(with_attribute(nest).SerializeToString()) == 400


@pytest.mark.parametrize(
    ("field", "value", "read_as"),
    [
        ("string_value", "s", "s"),
        ("bool_value", True, True),
        ("int_value", -(2**63), -(2**63)),
        ("double_value", 0.5, 0.5),
        ("double_value", float("nan"), "nan"),  # no JSON value
        ("double_value", float("-inf"), "-inf"),
        ("bytes_value", b"\x00\xff", "AP8="),
    ],
)
def test_attributes_become_json_values(field, value, read_as):
    request = with_attribute(lambda target: setattr(target, field, value))
    assert read(request)[0][1].attributes == {"gen_ai.tool.call.result": read_as}


def test_attributes_that_are_not_read_are_not_kept():
    request = a_request()
    span = request.resource_spans[0].scope_spans[0].spans[0]
    span.attributes.add(key="gen_ai.input.messages").value.string_value = "x" * 100_000
    ((_, kept),) = read(request)
    assert kept.attributes == {}
    assert kept.size < 1_000


def test_an_error_is_the_message_of_the_status_or_the_exception():
    request = a_request(4)
    spans = request.resource_spans[0].scope_spans[0].spans
    spans[0].status.code = 2
    spans[1].status.code = 2
    event = spans[1].events.add(name="exception")
    event.attributes.add(key="exception.type").value.string_value = "ValueError"
    event.attributes.add(key="exception.message").value.string_value = "no such city"
    spans[2].attributes.add(key="error.type").value.string_value = "timeout"
    spans[3].status.code = 1
    assert [span.error for _, span in read(request)] == [
        "error",
        "ValueError: no such city",
        "timeout",
        None,
    ]


def test_responses_are_of_the_type_of_the_request():
    assert response(PROTOBUF) == b""
    assert json.loads(response(JSON)) == {}
    partly = ExportTraceServiceResponse.FromString(response(PROTOBUF, refused=3, reason="why"))
    assert partly.partial_success.rejected_spans == 3
    assert json.loads(response(JSON, refused=3, reason="why")) == {
        "partialSuccess": {"rejectedSpans": "3", "errorMessage": "why"}
    }
    assert Status.FromString(failure(PROTOBUF, "why")).message == "why"
    assert json.loads(failure(JSON, "why")) == {"message": "why"}
