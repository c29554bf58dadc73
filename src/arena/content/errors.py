"""What can go wrong with content, sorted by whose fault it is."""

from arena.errors import InfrastructureError, InvalidInput, NotFound


class ContentMissing(NotFound):
    """The content, or a part of it, is not here."""

    code = "content_missing"


class ContentTooLarge(InvalidInput):
    """The content is larger than is allowed here."""

    code = "content_too_large"


class ContentMalformed(InvalidInput):
    """The bytes are what their CID says, but they are no file."""

    code = "content_malformed"


class ContentCorrupt(InfrastructureError):
    """The bytes kept under a CID are not those it names."""

    code = "content_corrupt"

    def __init__(self, message: str | None = None) -> None:
        # Reading the same bytes again cannot help.
        super().__init__(message, retryable=False)
