"""How much content each team has stored: a number in a small file per team.

Content is shared: the team that stores a block first is charged for it, the others are not. The
file is locked while it changes, so that all processes with this folder count together.
"""

import fcntl
import hashlib
from pathlib import Path

from arena.content.errors import QuotaReached
from arena.team import current_team

MIB = 1024**2


class Quota:
    """At most `max_bytes` for each team."""

    def __init__(self, folder: Path, max_bytes: int) -> None:
        self._folder = folder
        self._max_bytes = max_bytes

    def charge(self, count: int) -> None:
        """Count new bytes of the current team; raises `QuotaReached` if they are too many."""
        team = current_team()
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # A hash, because a team's name may be too long for a file, or hold a slash.
        path = self._folder / hashlib.sha256(team.encode()).hexdigest()
        with path.open("a+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            # Empty if it is new, or if the machine stopped while it was written.
            used = int(file.read() or b"0") + count
            if used > self._max_bytes:
                raise QuotaReached(
                    f"team {team!r} may store {self._max_bytes // MIB} MiB of content, and this "
                    "would be more: ask the operator to raise ARENA_CONTENT_QUOTA_MIB"
                )
            file.seek(0)
            file.truncate()
            file.write(b"%d" % used)
