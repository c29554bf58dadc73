"""Checks whether this machine can isolate untrusted code, by really doing it."""

import os
import platform
import sys
from collections.abc import Awaitable, Callable

from arena.sandbox.errors import (
    ProbeStep,
    SandboxFailed,
    SandboxUnavailable,
    ToolchainMissing,
)
from arena.sandbox.harness.system import NUMBERS
from arena.sandbox.namespace.cgroups import find_cgroups
from arena.sandbox.namespace.filters import Profile, compiled
from arena.sandbox.namespace.launch import find_bubblewrap, find_node, find_python
from arena.sandbox.namespace.provider import NamespaceProvider
from arena.sandbox.ports import FunctionCall

# Older kernels have known escapes from a namespace to root (CVE-2022-0847 and others).
OLDEST_KERNEL = (5, 16)
USER_NAMESPACES = (
    "allow unprivileged user namespaces: kernel.unprivileged_userns_clone=1, "
    "user.max_user_namespaces>0, kernel.apparmor_restrict_unprivileged_userns=0; in a container, "
    "run it with a seccomp profile that allows unshare and with an unmasked /proc"
)
CGROUPS_REMEDY = (
    "run as root, or delegate memory and pids, for limits over all processes of a command "
    "together; each process is limited anyway"
)


async def probe() -> list[ProbeStep]:
    """Every step with its result; nothing is raised."""
    steps = [
        _platform(),
        _kernel(),
        _found("bubblewrap", find_bubblewrap),
        _found("libseccomp", _filter),
        _found("python", lambda: str(find_python())),
    ]
    if all(step.works for step in steps if step.required):
        python = _call_function("python", "def f(): return 42")
        steps.append(await _attempt("python functions", python))
        steps.append(await _attempt("commands", _run_command()))
        steps.append(await _javascript())
    steps += [_user(), _cgroups()]
    return steps


def _platform() -> ProbeStep:
    works = sys.platform == "linux" and platform.machine() in NUMBERS
    return ProbeStep(
        name="platform",
        works=works,
        detail=f"{sys.platform} on {platform.machine()}",
        remedy="" if works else "use Linux on x86_64 or aarch64, or the docker provider",
    )


def _kernel() -> ProbeStep:
    major, minor, *_ = os.uname().release.split(".")
    works = (int(major), int("".join(filter(str.isdigit, minor)) or 0)) >= OLDEST_KERNEL
    remedy = "" if works else "this kernel has known vulnerabilities; use 5.16 or newer"
    return ProbeStep(
        name="kernel", works=works, detail=os.uname().release, remedy=remedy, required=False
    )


def _found(name: str, find: Callable[[], str]) -> ProbeStep:
    try:
        return ProbeStep(name=name, works=True, detail=find())
    except SandboxUnavailable as error:
        return error.report[0]


def _filter() -> str:
    return f"filter of {len(compiled(Profile.ZYGOTE)) // 8} instructions"


async def _attempt(
    name: str, attempt: Awaitable[tuple[bool, str]], *, required: bool = True
) -> ProbeStep:
    try:
        works, detail = await attempt
    except (SandboxUnavailable, SandboxFailed, ToolchainMissing) as error:
        return ProbeStep(
            name=name, works=False, detail=str(error), remedy=USER_NAMESPACES, required=required
        )
    return ProbeStep(name=name, works=works, detail=detail)


async def _javascript() -> ProbeStep:
    name = "javascript functions"
    if find_node() is None:
        detail = "node is not installed, or an unprivileged user cannot reach it"
        remedy = "install nodejs"
        return ProbeStep(name=name, works=False, detail=detail, remedy=remedy, required=False)
    attempt = _call_function("javascript", "function f() { return 42 }")
    return await _attempt(name, attempt, required=False)


async def _call_function(language: str, source: str) -> tuple[bool, str]:
    call = FunctionCall(language=language, source=source, function_name="f", inputs=[[]])
    async with NamespaceProvider(warm_node=0) as provider:
        outcome = await provider.call(call)
    case = outcome.cases[0]
    return case.value == 42, case.error or outcome.engine


async def _run_command() -> tuple[bool, str]:
    async with NamespaceProvider() as provider:
        sandbox = await provider.create()
        result = await sandbox.exec("echo ok")
    return result.stdout == "ok\n", "sh in a workspace"


def _user() -> ProbeStep:
    root = os.geteuid() == 0
    detail = "root; submissions run as a user of their own" if root else "an unprivileged user"
    return ProbeStep(name="user", works=True, detail=detail, required=False)


def _cgroups() -> ProbeStep:
    found = find_cgroups()
    names = ", ".join(sorted(found.controllers)) if found else "none can be written"
    return ProbeStep(
        name="cgroups",
        works=bool(found),
        detail=names,
        remedy="" if found else CGROUPS_REMEDY,
        required=False,
    )
