import pytest

from arena.errors import AgentFault, CallerError, InfrastructureError
from arena.sandbox import errors
from arena.sandbox.errors import LimitReached, ProbeStep, SandboxUnavailable

FAULTS = [
    (errors.SandboxUnavailable, InfrastructureError),
    (errors.ToolchainMissing, InfrastructureError),
    (errors.SandboxFailed, InfrastructureError),
    (errors.LimitReached, AgentFault),
    (errors.ProtocolViolation, AgentFault),
    (errors.UnsafeFile, AgentFault),
    (errors.SandboxDestroyed, CallerError),
    (errors.InvalidPath, CallerError),
]


@pytest.mark.parametrize(("kind", "fault"), FAULTS)
def test_every_error_is_somebodys_fault(kind, fault) -> None:
    assert issubclass(kind, fault)


def test_codes_are_all_different() -> None:
    codes = [kind.code for kind, _ in FAULTS]
    assert len(set(codes)) == len(codes)


def test_unavailable_carries_its_report_and_is_not_retried() -> None:
    step = ProbeStep(name="bubblewrap", works=False, detail="missing", remedy="install it")
    error = SandboxUnavailable("no", report=[step])
    assert error.report == (step,)
    assert not error.retryable


def test_a_limit_is_named() -> None:
    error = LimitReached(limit="memory")
    assert error.limit == "memory"
    assert "memory" in str(error)
