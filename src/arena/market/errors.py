"""Why the market refuses a call. All are caller errors: nothing was written."""

from arena.errors import Conflict, Forbidden, InvalidInput, NotFound


class UnknownTask(NotFound):
    """There is no such task."""

    code = "unknown_task"


class WrongState(Conflict):
    """The move is not possible in the task's state."""

    code = "wrong_state"


class WrongRole(Forbidden):
    """The move belongs to another party."""

    code = "wrong_role"


class TooEarly(Conflict):
    """The window for this move has not opened yet."""

    code = "too_early"


class TooLate(Conflict):
    """The window for this move has closed."""

    code = "too_late"


class BadScore(InvalidInput):
    """A score is a whole number from 0 to 100."""

    code = "bad_score"


class BadContent(InvalidInput):
    """The content is missing, unreadable or not what was frozen."""

    code = "bad_content"


class BadSignature(Forbidden):
    """The signature is not the agent's signature for this act."""

    code = "bad_signature"


class InsufficientFunds(Conflict):
    """The account's balance is too low."""

    code = "insufficient_funds"


class AlreadyClaimed(Conflict):
    """Another process of the judge works on the task."""

    code = "already_claimed"


class LostClaim(Conflict):
    """The claim expired, and another process of the judge has the task now."""

    code = "lost_claim"


class KeyConflict(Conflict):
    """The idempotency key was used for another call."""

    code = "key_conflict"
