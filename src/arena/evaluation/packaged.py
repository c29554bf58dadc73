"""Validators of installed packages, by name: the entry points `arena.validators`.

An installed package is trusted: its function runs in this process, not in the sandbox. It is called
as `function(expected, submission)` in a thread, and returns a bool, a score of 0 to 100, or
`{"score": …, "findings": […], "reason": …}`.
"""

import pkgutil
from collections.abc import Callable
from functools import cache
from importlib.metadata import entry_points
from typing import Any, cast

from arena.evaluation.resources import GraderError
from arena.evaluation.verdict import Submission

GROUP = "arena.validators"

PackagedValidator = Callable[[dict[str, Any], Submission], object]
"""What an entry point of the group is."""


@cache
def installed_validators() -> dict[str, str]:
    """The import path of each installed validator, by its name."""
    # Read from every installed package, so only if a name is not built in.
    return {point.name: point.value for point in entry_points(group=GROUP)}


def validator_named(name: str) -> PackagedValidator:
    """The function; `GraderError` if it is not installed here, or cannot be imported."""
    known = installed_validators()
    if name not in known:
        listed = ", ".join(sorted(known)) or "none"
        raise GraderError(
            f"the validator {name!r} is not installed here (installed: {listed}); "
            f"install the package that has it as an entry point of {GROUP}",
            retryable=False,
        )
    try:
        return cast(PackagedValidator, pkgutil.resolve_name(known[name]))
    except Exception as error:
        # Importing runs code of another package, which may raise anything.
        raise GraderError(
            f"the validator {name!r} ({known[name]}) cannot be imported: {error!r}",
            retryable=False,
        ) from error
