"""Traces: what an agent did, from the OpenTelemetry spans that it sends while it answers.

Each question gets a *target*: a trace id, the address of a receiver on loopback, and a token. The
*receiver* takes OTLP over HTTP and puts spans into the *inbox* of their question; the spans that
describe tool calls become steps, those of model calls become usage. All of it is the agent's own
claim. This room imports no other room but `models`; its heavy imports (the protobuf messages, the
HTTP server) are in modules that are loaded when the first question needs them.
"""
