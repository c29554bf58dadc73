"""What a program sees of Arena's environment: little, and nothing by accident."""

from collections.abc import Iterable

from arena.agents.secrets import Secrets

KEPT = ("PATH", "HOME", "LANG", "TMPDIR", "TZ")
KEPT_PREFIX = "LC_"

# Python programs speak UTF-8 and do not sit on an answer in a buffer; others ignore these.
_SET = {"PYTHONUTF8": "1", "PYTHONUNBUFFERED": "1"}


def program_environment(names: Iterable[str], secrets: Secrets) -> dict[str, str]:
    """The environment of an agent's program: the kept variables and the secrets `names`."""
    kept = {
        name: value
        for name, value in secrets.environ.items()
        if name in KEPT or name.startswith(KEPT_PREFIX)
    }
    return kept | _SET | {name: secrets.value(name) for name in names}
