"""Calls language models at any OpenAI-compatible endpoint, and prices their answers.

`ModelClient` sends one chat and returns a `Completion`, or raises a `ModelFault` that says what
went wrong and whether a retry can help. Agents and judges both use it, and decide what a
fault means (a failed test, no verdict). `Turns` enforce the limits of an endpoint; a `Throttle`
backs off from one that refuses. A `Step` is a tool call.

Nothing is imported here: code that only needs a `Usage` should not load an HTTP library.
"""
