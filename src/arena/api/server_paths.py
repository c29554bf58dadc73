"""Names for the server's own files: no absolute path leaves the server."""

from pathlib import Path

import arena
from arena.settings import Settings


class ServerPaths:
    """The folders of the server, each with the name that callers see instead."""

    def __init__(self, settings: Settings) -> None:
        package = Path(arena.__file__).parent
        own = settings.project
        named = (
            *((own.root, *own.tests, *own.agents) if own else ()),
            *settings.tests,
            *settings.agents,
        )
        folders = {
            package: package.name,
            settings.home: "home",
            settings.content_folder: "content",
            settings.home / "agents": "agents",
            settings.home / "benchmarks": "benchmarks",
            **{folder: folder.name for folder in named},
        }
        names = {
            str(path): name
            for folder, name in folders.items()
            for path in (folder.absolute(), folder.resolve())
            if path != Path(path.anchor)
        }
        # The longest first: one folder may be inside of another.
        self._names = sorted(names.items(), key=lambda entry: -len(entry[0]))

    def hide(self, text: str) -> str:
        """The text with the name of each folder instead of its path."""
        for path, name in self._names:
            text = text.replace(path, name)
        return text
