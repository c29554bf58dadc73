"""How a language model is asked: any OpenAI-compatible endpoint, what it says, what it costs.

`ModelClient` sends one chat and gives back a `Completion`, or raises a `ModelFault` that says what
went wrong and whether another try can help. Agents and judges both ask through it; what a fault
means (a failed test, no verdict) is theirs to say. `Turns` keep to what an endpoint allows.

Nothing is imported here: who only needs a `Usage` should not load a client.
"""
