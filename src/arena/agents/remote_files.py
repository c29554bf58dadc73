"""The files of a workspace on their way to an agent elsewhere, and back."""

import base64
import binascii
import json
from dataclasses import replace
from typing import Any, cast

from arena.agents.connector import MAX_OUTPUT_BYTES, Answer, Question
from arena.errors import AgentCrashed

MAX_FILES_BYTES = 44 * MAX_OUTPUT_BYTES
"""Of an answer with files: the largest archive in base64, and the rest of the answer."""


def archive_text(question: Question) -> str:
    """The files of a question as a compressed archive in base64; empty without any."""
    if question.workspace is None:
        return ""
    # Imported on first use: few agents get files, and the archive's reader takes long to load.
    from arena.workspaces.archive import write_archive

    return base64.b64encode(write_archive(question.workspace.files)).decode()


def with_files(answer: Answer, body: bytes) -> Answer:
    """The answer with the files that are in its body: `workspace: {archive | patch}`."""
    try:
        value: Any = json.loads(body)
    except (ValueError, RecursionError):
        return answer
    keys = cast(dict[str, Any], value) if isinstance(value, dict) else {}
    given: Any = keys.get("workspace")
    if given is None:
        return answer
    files = cast(dict[str, Any], given) if isinstance(given, dict) else {}
    archive, patch = files.get("archive"), files.get("patch")
    if isinstance(archive, str) and patch is None:
        try:
            return replace(answer, archive=base64.b64decode(archive, validate=True))
        except (binascii.Error, ValueError):
            raise AgentCrashed("the agent's archive of files is not base64") from None
    if isinstance(patch, str) and archive is None:
        return replace(answer, patch=patch)
    raise AgentCrashed("the agent's 'workspace' must have either 'archive' or 'patch'")
