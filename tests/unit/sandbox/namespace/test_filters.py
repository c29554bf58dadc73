import pytest

from arena.sandbox.namespace.filters import Profile, compiled

pytest.importorskip("pyseccomp")
INSTRUCTION_BYTES = 8
ALLOW, KILL_PROCESS = 0x7FFF0000, 0x80000000


def returns(code: bytes) -> set[int]:
    """The values that a program can return: BPF_RET is 0x06."""
    steps = [code[i : i + INSTRUCTION_BYTES] for i in range(0, len(code), INSTRUCTION_BYTES)]
    return {int.from_bytes(step[4:], "little") for step in steps if step[0] == 0x06}


@pytest.mark.parametrize("profile", Profile)
def test_a_filter_allows_refuses_and_kills(profile) -> None:
    code = compiled(profile)
    assert len(code) % INSTRUCTION_BYTES == 0
    # EPERM for what is not on the list, ENOSYS for clone3, the end for another architecture.
    assert returns(code) == {ALLOW, 0x50001, 0x50026, KILL_PROCESS}


def test_each_use_has_its_own_list() -> None:
    assert len({compiled(profile) for profile in Profile}) == len(Profile)
