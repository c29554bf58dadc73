"""The errors of content, by whose fault they are.

    InfrastructureError
    └── SourceFault               a Kubo daemon or a gateway
        ├── ContentPending        no source has the content now: retry later
        ├── SourceUnreachable, SourceTooSlow, SourceFailed, AnswerCutOff    a retry may help
        └── SourceRefused, InvalidAnswer, AnswerTooLarge, WrongBlock,       it does not help
            FormatIgnored, RedirectRefused, OtherCid, PinRefused

Each lie or failure of a source has its own class and code.
"""

from arena.errors import Conflict, InfrastructureError, InvalidInput, NotFound, StorageFull


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


class SourceFault(InfrastructureError):
    """A source of content in the network failed."""

    code = "source_fault"
    retry_helps = True
    retry_after_seconds = 15

    def __init__(self, message: str | None = None, *, retryable: bool | None = None) -> None:
        super().__init__(message, retryable=self.retry_helps if retryable is None else retryable)


class ContentPending(SourceFault):
    """No source has the content now; it may come."""

    code = "content_pending"


class SourceUnreachable(SourceFault):
    """The source does not respond."""

    code = "source_unreachable"


class SourceTooSlow(SourceFault):
    """The source did not send everything within the time limit."""

    code = "source_too_slow"


class SourceFailed(SourceFault):
    """The source reports a failure of its own."""

    code = "source_failed"


class AnswerCutOff(SourceFault):
    """The source closed the connection in the middle of an answer."""

    code = "source_answer_cut_off"


class SourceRefused(SourceFault):
    """The source does not allow the request."""

    code = "source_refused"
    retry_helps = False


class InvalidAnswer(SourceFault):
    """The source did not answer as a source of its kind does."""

    code = "source_answer_invalid"
    retry_helps = False


class AnswerTooLarge(SourceFault):
    """The source sent more than was asked for."""

    code = "source_answer_too_large"
    retry_helps = False


class WrongBlock(SourceFault):
    """The source sent bytes that do not match their CID."""

    code = "source_wrong_block"
    retry_helps = False


class FormatIgnored(SourceFault):
    """The gateway does not send blocks: it ignores format=raw."""

    code = "source_format_ignored"
    retry_helps = False


class RedirectRefused(SourceFault):
    """The source redirects to an address that it may not redirect to."""

    code = "source_redirect_refused"
    retry_helps = False


class OtherCid(SourceFault):
    """The daemon stored the content under another CID."""

    code = "source_other_cid"
    retry_helps = False


class PinRefused(SourceFault):
    """The daemon did not pin or unpin the content."""

    code = "source_pin_refused"
    retry_helps = False


class NowhereToPublish(Conflict):
    """No Kubo daemon is set up to publish to: set ARENA_KUBO_URL."""

    code = "nowhere_to_publish"
