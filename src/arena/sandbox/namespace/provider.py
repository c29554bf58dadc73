"""The default provider: everything on this machine; needs only bubblewrap."""

import asyncio
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from arena.errors import InvalidInput
from arena.pools.effort import effort
from arena.pools.slots import Slot, Slots
from arena.sandbox.arguments import checked_seconds
from arena.sandbox.errors import SandboxDestroyed, SandboxFailed, ToolchainMissing
from arena.sandbox.limits import Limits, cores, submissions_at_once
from arena.sandbox.namespace.box import Box, Kind
from arena.sandbox.namespace.children import Child, outcome_of
from arena.sandbox.namespace.launch import find_node, find_python
from arena.sandbox.namespace.node import Pool
from arena.sandbox.namespace.workspace import Workspace
from arena.sandbox.namespace.zygote import Fleet
from arena.sandbox.ports import FunctionCall, FunctionOutcome

MANY_VALUES = 2000
"""Encoding more inputs takes long enough to be done in a thread."""


class NamespaceProvider:
    """Runs untrusted code in Linux namespaces. Belongs to the event loop of its first use."""

    def __init__(
        self,
        limits: Limits | None = None,
        *,
        roots: Sequence[Path] = (),
        warm_node: int = 2,
    ) -> None:
        self.limits = limits or Limits()
        self._roots = tuple(roots)
        self._warm_node = warm_node
        self._fleets: dict[Kind, Fleet] = {}
        self._node: Pool | None = None
        self._node_version = ""
        self._node_starting = asyncio.Lock()
        # Submissions queue before their clock starts, so that waiting does not count as time used.
        self._slots = Slots(submissions_at_once(), spare=cores())
        self._workspaces: dict[str, Workspace] = {}
        self._closed = False

    @property
    def was_used(self) -> bool:
        """Whether it has run something, so that its state says whether it can run more."""
        return bool(self._fleets or self._node or self._workspaces)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def call(self, call: FunctionCall) -> FunctionOutcome:
        """Run a submission once, with every input, in a fresh isolated process."""
        self._check_open()
        if call.language == "python":
            return await self._call(Kind.PYTHON, call)
        if call.language == "javascript":
            return await self._call(Kind.NODE, call)
        raise InvalidInput(f"functions can be called in python and javascript, not {call.language}")

    async def _call(self, kind: Kind, call: FunctionCall) -> FunctionOutcome:
        """Run it in a slot; retry once if the sandbox failed: not the submission's fault."""
        async with self._slots.slot():
            try:
                return await self._call_once(kind, call)
            except SandboxFailed:
                return await self._call_once(kind, call)

    async def _call_once(self, kind: Kind, call: FunctionCall) -> FunctionOutcome:
        encode = call.marshalled if kind is Kind.PYTHON else call.request
        is_small = effort(call.inputs, limit=MANY_VALUES) <= MANY_VALUES
        request = encode() if is_small else await asyncio.to_thread(encode)
        if kind is Kind.NODE:
            child = await (await self._node_pool()).take(request)
            engine = f"node {self._node_version}"
        else:
            zygote = await self._fleet(kind).zygote()
            child = Child.spawn_with(zygote, self.limits, request)
            engine = f"python {zygote.version}"
        return await outcome_of(child, self.limits, len(call.inputs), engine)

    async def create(self, image: str | None = None, timeout: float | None = None) -> Workspace:
        """A fresh sandbox with this machine's own programs; there are no images here."""
        self._check_open()
        if image is not None:
            raise InvalidInput(
                f"the namespace provider has no images (requested {image!r}); use docker"
            )
        seconds = checked_seconds(timeout, self.limits.wall_seconds)
        try:
            workspace = await self._open_workspace(seconds)
        except SandboxFailed:
            workspace = await self._open_workspace(seconds)
        self._workspaces[workspace.id] = workspace
        return workspace

    async def _open_workspace(self, seconds: float) -> Workspace:
        zygote = await self._fleet(Kind.WORKSPACE).zygote()
        return await Workspace.open(zygote, self.limits, seconds)

    def slot(self) -> Slot:
        """Held while a whole program is judged; functions take their own."""
        return self._slots.slot()

    async def destroy(self, id: str) -> None:
        """Destroy one sandbox; an unknown one is already gone."""
        workspace = self._workspaces.pop(id, None)
        if workspace is not None:
            await workspace.destroy()

    async def close(self) -> None:
        """Destroy everything; a second call does nothing."""
        self._closed = True
        for id in list(self._workspaces):
            await self.destroy(id)
        if self._node is not None:
            await self._node.close()
        await asyncio.gather(*(fleet.close() for fleet in self._fleets.values()))
        self._fleets.clear()

    def _check_open(self) -> None:
        if self._closed:
            raise SandboxDestroyed("this provider has been closed; make a new one")

    def _fleet(self, kind: Kind) -> Fleet:
        self._check_open()
        if kind not in self._fleets:
            self._fleets[kind] = Fleet(self.box(kind), cores())
        return self._fleets[kind]

    def box(self, kind: Kind) -> Box:
        """What a box of this kind contains."""
        return Box(
            kind=kind,
            limits=self.limits,
            python=find_python(),
            node=find_node(),
            roots=self._roots,
        )

    async def _node_pool(self) -> Pool:
        # Two concurrent first calls must share one pool: a second one would never be closed.
        async with self._node_starting:
            if self._node is None:
                node = find_node()
                if node is None:
                    raise ToolchainMissing(
                        "JavaScript submissions need Node, which is not installed; "
                        "install the package nodejs"
                    )
                version = await asyncio.to_thread(
                    subprocess.run, [node, "--version"], capture_output=True, text=True, check=True
                )
                self._node_version = version.stdout.strip()
                self._node = Pool(self._fleet(Kind.NODE), self.limits, self._warm_node)
            return self._node
