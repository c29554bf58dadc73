"""Which tests share a worker, and with it their fixtures.

xdist's own groups do not work with this version of pytest: the mark is read and has no effect.
"""

from xdist.scheduler import LoadScopeScheduling

WEB = "tests/acceptance/web/"
"""One browser at a time is enough for two cores, and one furnished home for all of its pages."""


class Together(LoadScopeScheduling):
    """A file's tests go to one worker, and so do all that need a browser."""

    def _split_scope(self, nodeid: str) -> str:
        path, _, _ = nodeid.partition("::")
        return WEB if path.startswith(WEB) else path
