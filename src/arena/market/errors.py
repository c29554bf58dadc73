"""Why the market refuses a call. All are the caller's: nothing was written."""

from arena.errors import Conflict, Forbidden, InvalidInput, NotFound


class UnknownTask(NotFound):
    """There is no such task."""

    code = "unknown_task"


class WrongState(Conflict):
    """The task is not in a state that has this move."""

    code = "wrong_state"


class WrongRole(Forbidden):
    """The move belongs to somebody else."""

    code = "wrong_role"


class TooEarly(Conflict):
    """The window for this move has not opened."""

    code = "too_early"


class TooLate(Conflict):
    """The window for this move is shut."""

    code = "too_late"


class BadScore(InvalidInput):
    """A score is a whole number from 0 to 100."""

    code = "bad_score"


class BadContent(InvalidInput):
    """The content is missing, unreadable or not the one that was frozen."""

    code = "bad_content"


class BadSignature(Forbidden):
    """The signature is not the agent's for this very act."""

    code = "bad_signature"


class InsufficientFunds(Conflict):
    """The account does not hold that much."""

    code = "insufficient_funds"


class KeyConflict(Conflict):
    """The idempotency key was used for another call."""

    code = "key_conflict"
