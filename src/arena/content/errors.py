"""The errors of content, by whose fault they are."""

from arena.errors import InfrastructureError, InvalidInput, NotFound, StorageFull


class ContentMissing(NotFound):
    """The content, or a part of it, is not stored here."""

    code = "content_missing"


class ContentTooLarge(InvalidInput):
    """The content is larger than is allowed here."""

    code = "content_too_large"


class QuotaReached(StorageFull):
    """The team has stored as much content as it may."""

    code = "quota_reached"

    def __init__(self, message: str | None = None) -> None:
        # Content is never deleted: only the operator can raise the quota.
        super().__init__(message, retryable=False)


class ContentMalformed(InvalidInput):
    """The bytes match their CID, but they are not a file."""

    code = "content_malformed"


class ContentCorrupt(InfrastructureError):
    """The stored bytes do not match their CID."""

    code = "content_corrupt"

    def __init__(self, message: str | None = None) -> None:
        # Reading the same bytes again does not help.
        super().__init__(message, retryable=False)


class InvalidArchive(InvalidInput):
    """The file is not an archive that Arena can read."""

    code = "invalid_archive"


class NotCanonical(InvalidInput):
    """The bytes are not canonical JSON."""

    code = "not_canonical"
