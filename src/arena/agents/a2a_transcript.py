"""What an A2A agent has said so far: artifacts, messages and the state of its task."""

import json
from collections.abc import Iterable
from typing import cast

from a2a.types import Artifact, Message, Part, StreamResponse, Task, TaskState, TaskStatus
from google.protobuf.json_format import MessageToDict
from google.protobuf.struct_pb2 import Struct

from arena.models.usage import Usage, usage_from

# Compared by number: an enum of protobuf is an int.
_FAILED = {
    TaskState.TASK_STATE_FAILED: "failed",
    TaskState.TASK_STATE_REJECTED: "was rejected",
    TaskState.TASK_STATE_CANCELED: "was cancelled by the agent",
}
_FINAL = {
    *_FAILED,
    TaskState.TASK_STATE_COMPLETED,
    # Nobody will answer its question back, so what it said is all there will be.
    TaskState.TASK_STATE_INPUT_REQUIRED,
    TaskState.TASK_STATE_AUTH_REQUIRED,
}


class Transcript:
    """Collects the events of one answer."""

    def __init__(self) -> None:
        self.task_id: str | None = None
        self.size = 0
        """How many characters have come in; a bound for who must not collect for ever."""
        self._state: int | None = None
        self._artifacts: dict[str, list[str]] = {}
        self._message = ""
        self._usage: object = None

    @property
    def is_final(self) -> bool:
        """Whether nothing more will come."""
        return self._state in _FINAL if self.task_id else bool(self._message)

    @property
    def failure(self) -> str | None:
        """How the task failed, or None."""
        return _FAILED.get(cast(TaskState, self._state)) if self._state is not None else None

    @property
    def wants_login(self) -> bool:
        """Whether the agent asks for credentials first."""
        return self._state == TaskState.TASK_STATE_AUTH_REQUIRED

    @property
    def message(self) -> str:
        """The agent's last message."""
        return self._message

    @property
    def text(self) -> str:
        """The answer: the text of the artifacts, or else the last message."""
        artifacts = ["".join(texts) for texts in self._artifacts.values()]
        return "\n".join(filter(None, artifacts)) or self._message

    @property
    def usage(self) -> Usage:
        """What the agent says in its metadata under `usage`."""
        return usage_from(self._usage)

    def add(self, event: StreamResponse) -> None:
        """Take in one event of the stream."""
        match event.WhichOneof("payload"):
            case "task":
                self.add_task(event.task)
            case "message":
                self._add_message(event.message)
                self._note_usage(event.message.metadata)
            case "status_update":
                self.task_id = event.status_update.task_id
                self._add_status(event.status_update.status)
                self._note_usage(event.status_update.metadata)
            case "artifact_update":
                update = event.artifact_update
                self.task_id = update.task_id
                self._add_artifact(update.artifact, append=update.append)
            case _:
                pass  # a kind of event that a later version of the protocol has

    def add_task(self, task: Task) -> None:
        """Take in the whole task as it is now."""
        self.task_id = task.id
        for artifact in task.artifacts:
            self._add_artifact(artifact, append=False)
        self._add_status(task.status)
        self._note_usage(task.metadata)

    def _add_status(self, status: TaskStatus) -> None:
        self._state = status.state
        if status.HasField("message"):
            self._add_message(status.message)

    def _add_message(self, message: Message) -> None:
        text = "".join(_texts(message.parts))
        self.size += len(text)
        self._message = text or self._message

    def _add_artifact(self, artifact: Artifact, *, append: bool) -> None:
        texts = list(_texts(artifact.parts))
        self.size += sum(map(len, texts))
        if append:
            self._artifacts.setdefault(artifact.artifact_id, []).extend(texts)
        else:
            self._artifacts[artifact.artifact_id] = texts

    def _note_usage(self, metadata: Struct) -> None:
        if "usage" in metadata.fields:
            self._usage = MessageToDict(metadata)["usage"]


def _texts(parts: Iterable[Part]) -> Iterable[str]:
    for part in parts:
        if part.HasField("text"):
            yield part.text
        elif part.HasField("data"):
            yield json.dumps(MessageToDict(part.data), ensure_ascii=False)
