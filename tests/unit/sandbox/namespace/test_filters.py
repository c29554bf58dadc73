"""The filters as programs: the verdict of each on a call, run as the kernel would."""

import os
import struct
from errno import ENOSYS, EPERM

import pytest

from arena.sandbox.namespace.filters import (
    CLONE_NAMESPACES,
    CLONE_THREAD,
    FUNCTION_CALLS,
    PROCESS_CALLS,
    SETUP_CALLS,
    SOCKET_CALLS,
    Profile,
    compiled,
)

pyseccomp = pytest.importorskip("pyseccomp")
ALLOWED, KILLED = 0x7FFF0000, 0x80000000
REFUSED, UNKNOWN = 0x50000 | EPERM, 0x50000 | ENOSYS
WITHOUT_EFFECT = 0x50000
"""It returns 0, and the kernel does nothing."""
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
NATIVE = ARCHITECTURES[os.uname().machine]
I386 = 0x40000003
X32 = 0x40000000
STEP = struct.Struct("=HBBI")
EVERY_CALL = range(600)
FUNCTION = (Profile.ZYGOTE, Profile.CLOSING)
"""Which filters the child of a function's zygote has."""


def answer(profile: Profile, call: int, *arguments: int, architecture: int = NATIVE) -> int:
    """The verdict of the filter, run as the kernel would."""
    words = [*arguments, *[0] * (6 - len(arguments))]
    data = struct.pack("=iIQ6Q", call, architecture, 0, *words)
    program = list(STEP.iter_unpack(compiled(profile)))
    place, value = 0, 0
    while True:
        code, when_true, when_false, constant = program[place]
        place += 1
        match code:
            case 0x20:
                value = int.from_bytes(data[constant : constant + 4], "little")
            case 0x54:
                value &= constant
            case 0x05:
                place += constant
            case 0x15:
                place += when_true if value == constant else when_false
            case 0x25:
                place += when_true if value > constant else when_false
            case 0x35:
                place += when_true if value >= constant else when_false
            case 0x06:
                return constant
            case _:
                raise AssertionError(f"an instruction unknown to this test: {code:#x}")


def strictest(*answers: int) -> int:
    """The kernel takes the least of them, as signed numbers."""
    return min(answers, key=lambda answer: answer - (1 << 32) if answer & KILLED else answer)


def answer_to_function(call: int, *arguments: int) -> int:
    return strictest(*(answer(profile, call, *arguments) for profile in FUNCTION))


def number(name: str) -> int:
    return pyseccomp.resolve_syscall(pyseccomp.Arch.NATIVE, name)


def numbers(names: str) -> set[int]:
    return {found for name in names.split() if (found := number(name)) >= 0}


SOMETIMES = numbers(
    "clone prlimit64 ioctl socketpair prctl socket mknod mknodat clone3 fcntl flock inotify_init "
    "inotify_init1"
)
"""Depends on the arguments, or has an answer of its own."""


def test_a_function_may_make_the_calls_of_its_list_and_no_other() -> None:
    allowed = {call for call in EVERY_CALL if answer_to_function(call) == ALLOWED} - SOMETIMES
    assert allowed == numbers(FUNCTION_CALLS)
    others = set(EVERY_CALL) - allowed - SOMETIMES
    assert {answer_to_function(call) for call in others} == {REFUSED}


def test_a_zygote_may_make_setup_calls_and_its_child_may_not() -> None:
    for call in numbers(SETUP_CALLS):
        assert answer(Profile.ZYGOTE, call) == ALLOWED
        assert answer_to_function(call) == REFUSED


def test_a_function_has_threads_but_no_processes_and_no_namespaces() -> None:
    clone = number("clone")
    assert answer_to_function(clone, CLONE_THREAD | 0x3D0F00) == ALLOWED
    assert answer_to_function(clone, 17) == REFUSED
    for place in range(32):
        bit = 1 << place
        expected = REFUSED if CLONE_NAMESPACES & bit else ALLOWED
        assert answer_to_function(clone, CLONE_THREAD | bit) == expected
        assert answer(Profile.ZYGOTE, clone, bit) == ALLOWED
    assert answer_to_function(number("clone3"), CLONE_THREAD) == UNKNOWN


@pytest.mark.parametrize("profile", [Profile.ZYGOTE, Profile.NODE, Profile.COMMAND])
def test_locks_have_no_effect_and_nobody_is_notified(profile) -> None:
    fcntl = number("fcntl")
    assert answer(profile, number("flock"), 3, 2) == WITHOUT_EFFECT
    for command in (6, 7, 37, 38):  # F_SETLK, F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW
        assert answer(profile, fcntl, 3, command) == WITHOUT_EFFECT
    for command in (5, 36, 1024, 1025, 1026, 6 | 1 << 32):  # F_GETLK, F_OFD_GETLK, leases, F_NOTIFY
        assert answer(profile, fcntl, 3, command) == REFUSED
    for command in (0, 1, 2, 3, 4, 1030):
        assert answer(profile, fcntl, 3, command) == ALLOWED
    for name in ("inotify_init", "inotify_init1"):
        assert number(name) < 0 or answer(profile, number(name)) == UNKNOWN


def test_limits_can_be_read_and_not_set() -> None:
    limit = number("prlimit64")
    assert answer_to_function(limit, 0, 7, 0) == ALLOWED
    for address in (1, 0x7FFF_1234_5678, 1 << 32, 1 << 63):
        assert answer_to_function(limit, 0, 7, address) == REFUSED


@pytest.mark.parametrize(
    ("profile", "names"),
    [
        (Profile.NODE, FUNCTION_CALLS + PROCESS_CALLS),
        (Profile.COMMAND, FUNCTION_CALLS + PROCESS_CALLS + SOCKET_CALLS),
    ],
)
def test_a_program_may_make_the_calls_of_its_lists_and_no_other(profile, names) -> None:
    allowed = {call for call in EVERY_CALL if answer(profile, call) == ALLOWED} - SOMETIMES
    assert allowed == numbers(names) - SOMETIMES


@pytest.mark.parametrize("name", ["setresuid", "setresgid"])
def test_no_id_is_ever_set_and_make_is_told_that_its_effective_one_was(name: str) -> None:
    none, same = (1 << 64) - 1, 0xFFFF_FFFF  # -1, as a long and as an id
    for profile in (Profile.NODE, Profile.COMMAND):
        for left in (none, same):
            assert answer(profile, number(name), left, 65534, left) == WITHOUT_EFFECT
        for ids in ((0, 0, 0), (none, 0, 0), (0, 0, none), (65534, 65534, 65534)):
            assert answer(profile, number(name), *ids) == REFUSED
    assert answer_to_function(number(name), none, 65534, none) == REFUSED


@pytest.mark.parametrize("profile", [Profile.NODE, Profile.COMMAND])
def test_a_program_has_processes_but_no_namespaces(profile) -> None:
    clone = number("clone")
    assert answer(profile, clone, 17) == ALLOWED
    for place in range(32):
        bit = 1 << place
        expected = REFUSED if CLONE_NAMESPACES & bit else ALLOWED
        assert answer(profile, clone, bit) == expected


@pytest.mark.parametrize("profile", Profile)
def test_calls_of_other_architectures_kill_the_process(profile) -> None:
    for call in EVERY_CALL:
        assert answer(profile, call, architecture=I386) == KILLED
        if os.uname().machine == "x86_64":
            assert answer(profile, call | X32) == KILLED
