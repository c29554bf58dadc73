"""What can go wrong between Arena and a model.

    ModelFault
    ├── Refused          the endpoint answered with a status that is not a success
    ├── Unreachable      no connection, or it broke
    ├── ModelTimedOut    no complete answer in time
    └── BadCompletion    an answer, but not a chat completion

They are not Arena's own errors: whose fault it is depends on who was asked, an agent or a judge.
"""


class ModelFault(Exception):
    """A model was asked in vain."""

    def __init__(self, message: str) -> None:
        self.message = message
        super().__init__(message)


class Refused(ModelFault):
    """The endpoint answered with a status that is not a success."""

    def __init__(self, status: int, *, excerpt: str, retry_after: str | None) -> None:
        self.status = status
        self.excerpt = excerpt
        """What it said, without the key."""
        self.retry_after = retry_after
        """The header, as it was sent."""
        super().__init__(f"status {status}")


class Unreachable(ModelFault):
    """No connection could be made, or it broke."""

    def __init__(self, message: str, *, is_lasting: bool = False) -> None:
        super().__init__(message)
        self.is_lasting = is_lasting
        """Whether it will not pass by itself: a certificate, a malformed request."""


class ModelTimedOut(ModelFault):
    """No complete answer in time."""


class BadCompletion(ModelFault):
    """An answer that is not a chat completion."""


class BodyTooLong(BadCompletion):
    """An answer far longer than any that could be used, or compressed so that nobody can tell."""
