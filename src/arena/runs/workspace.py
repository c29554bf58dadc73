"""Has an agent work on files: lays them out, asks, collects, cleans up."""

import asyncio
import hashlib
import logging
import os
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from arena.agents.connector import Answer, Connector, Question
from arena.agents.leftovers import end_leftovers
from arena.agents.secrets import Redacted
from arena.agents.workspace_folder import WorkspaceFolder
from arena.catalog.test import Test
from arena.errors import InfrastructureError
from arena.evaluation.file_sandbox import set_up
from arena.evaluation.resources import NotJudged, Resources
from arena.evaluation.standard import files_run_by, hidden_files
from arena.runs.performed import Performed
from arena.runs.session import AgentSession, NotExecuted
from arena.text import storable
from arena.workspaces.archive import read_archive
from arena.workspaces.collected import Collected, File
from arena.workspaces.description import Workspace, read_workspace
from arena.workspaces.diff import changes_between, unified_diff
from arena.workspaces.folder import (
    Claimed,
    abandoned,
    hide,
    known_as,
    lay_out,
    new_folder,
    remove,
)
from arena.workspaces.gathering import Gathered, gather
from arena.workspaces.hooks import guarded, is_byproduct
from arena.workspaces.names import matches_any
from arena.workspaces.patch import apply_patch

log = logging.getLogger(__name__)
MAX_LISTED = 1000
"""Changes, problems and files that a result lists; a record has all of them."""


async def work_on_files(
    session: AgentSession,
    test: Test,
    resources: Resources,
    ask: Callable[[AgentSession], Awaitable[Performed]],
) -> Performed:
    """Ask with the test's files laid out, and collect what the agent made of them."""
    workspace = read_workspace(test.workspace or {})
    standard = test.standard
    before = await _prepared(workspace, resources)
    place = Workplace(session.connector, before)
    try:
        performed = await ask(replace(session, connector=place))
        gathered = await place.gathered(workspace.collect)
    finally:
        await place.leave()
    if isinstance(session.connector, Redacted):
        gathered.files = {
            path: replace(file, content=session.connector.without_secrets(file.content))
            for path, file in gathered.files.items()
        }
    hidden = hidden_files(standard)
    used = files_run_by(standard, before)
    clean = guarded(gathered.files, before, workspace.collect, used, hidden)
    collected = Collected(
        files=clean.files,
        before=before,
        changes=tuple(gathered.changes),
        problems=(*clean.problems, *gathered.problems),
        is_protected=not (session.runs_here and hidden),
    )
    kept = {path: file for path, file in before.items() if matches_any(path, workspace.collect)}
    diff = await asyncio.to_thread(unified_diff, kept, gathered.files)
    return replace(performed, files=collected, workspace=_shown(collected, diff))


async def _prepared(workspace: Workspace, resources: Resources) -> Mapping[str, File]:
    """The files that the agent gets: those of the test, after its setup."""
    if workspace.setup is None:
        return workspace.files
    try:
        if resources.sandbox is None:
            raise NotJudged("the setup of a workspace needs a sandbox", retryable=False)
        return await set_up(
            resources.sandbox,
            workspace.files,
            workspace.setup,
            image=workspace.image,
            timeout=workspace.setup_timeout,
        )
    except InfrastructureError as error:
        raise NotExecuted(1, error) from error


@dataclass(slots=True)
class Workplace:
    """A connector that gives every question the files, and keeps what becomes of them.

    The first question of every attempt gets them fresh, later ones as the agent left them.
    """

    connector: Connector
    before: Mapping[str, File]
    folder: Claimed | None = None
    """Where the files are, if they are on this machine."""
    sent: Mapping[str, File] | None = None
    """The files that an agent elsewhere sent."""

    async def answer(self, question: Question) -> Answer:
        """Ask with the files in a folder."""
        if question.turn == 1 or self.folder is None:
            await self.leave()
            self.sent = None
            self.folder = await asyncio.to_thread(self._lay_out)
        files = self.before if self.sent is None else self.sent
        given = WorkspaceFolder(path=self.folder.path, files=files)
        answer = await self.connector.answer(replace(question, workspace=given))
        if answer.archive is not None:
            self.sent = await asyncio.to_thread(read_archive, answer.archive)
        elif answer.patch is not None:
            self.sent = await asyncio.to_thread(apply_patch, files, answer.patch)
        return answer

    async def close(self) -> None:
        """Nothing: the connector below is closed by its owner."""

    def _lay_out(self) -> Claimed:
        parent = Path(tempfile.gettempdir())
        for left in abandoned(parent):
            _clear(left)
        folder = new_folder(parent)
        try:
            lay_out(folder.path, self.before)
        except BaseException:
            _clear(folder)
            raise
        return folder

    async def gathered(self, collect: tuple[str, ...]) -> Gathered:
        """What became of the files; everything that the agent left running has ended."""
        if self.sent is not None:
            sent = {
                path: one
                for path, one in self.sent.items()
                if path in self.before or path in collect or not is_byproduct(path)
            }
            found = {path: one for path, one in sent.items() if matches_any(path, collect)}
            changes = list(changes_between(self.before, sent))
            return Gathered(files=found, changes=changes)
        return await asyncio.to_thread(self._gather, collect)

    def _gather(self, collect: tuple[str, ...]) -> Gathered:
        if self.folder is None:
            return Gathered()
        known = self.folder.path
        ended = end_leftovers(known, known)
        try:
            # What still runs now knows only the old path.
            self.folder = replace(self.folder, path=hide(known))
            ended += end_leftovers(known, self.folder.path)
            found = gather(self.folder.path, self.before, collect)
        except OSError as error:
            problem = f"refused: the folder of the workspace cannot be read: {error.strerror}"
            changes = list(changes_between(self.before, {}))
            found = Gathered(changes=changes, problems=[problem])
        found.problems[:0] = ended
        return found

    async def leave(self) -> None:
        """End what the agent left running, and remove the folder."""
        folder, self.folder = self.folder, None
        if folder is not None:
            await asyncio.shield(asyncio.to_thread(_clear, folder))


def _clear(folder: Claimed) -> None:
    """End what uses a folder and remove it; the next trial tries again what does not work now."""
    try:
        end_leftovers(known_as(folder.path), folder.path)
        remove(folder.path)
    except OSError as error:
        # For instance a file that was made immutable: the verdict does not depend on it.
        log.warning("cannot remove the workspace %s: %s", folder.path, error.strerror)
    finally:
        os.close(folder.lock)


def _shown(collected: Collected, diff: str) -> dict[str, Any]:
    """What a result keeps: the record of a verdict has the files themselves."""
    return {
        "diff": storable(diff),
        "changes": [
            {"path": storable(one.path), "kind": one.kind} for one in collected.changes[:MAX_LISTED]
        ],
        "problems": [storable(text) for text in collected.problems[:MAX_LISTED]],
        "is_protected": collected.is_protected,
        "files": [
            {
                "path": path,
                "size": len(file.content),
                "sha256": hashlib.sha256(file.content).hexdigest(),
            }
            for path, file in sorted(collected.files.items())[:MAX_LISTED]
        ],
    }
