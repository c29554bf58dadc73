"""How a language model is called: any OpenAI-compatible endpoint, what it says, what it costs.

`ModelClient` sends one chat and returns a `Completion`, or raises a `ModelFault` that says what
went wrong and whether another try can help. Agents and judges both use it; what a fault means (a
failed test, no verdict) they decide themselves. `Turns` keep to the limits of an endpoint.

Nothing is imported here: code that only needs a `Usage` should not load an HTTP library.
"""
