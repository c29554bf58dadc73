"""Every known attack, as root and as an unprivileged user, and a control without walls."""

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from arena.sandbox.namespace.cgroups import PREFIX, find_cgroups
from arena.sandbox.namespace.launch import DEDICATED_ID
from integration.sandbox.attacks.catalogue import ATTACKS
from integration.sandbox.attacks.controls import (
    CONTROLS,
    REFUSED_TO_EVERYBODY,
    is_refused_to_everybody,
    succeeded,
)
from integration.sandbox.attacks.yard import fence_in, yard
from integration.sandbox.machine import (
    SOMEBODY,
    Listener,
    copy_for_anybody,
    need_isolation,
    python_for_anybody,
    run_as,
)

SECRET = "canary-in-the-environment-of-the-launcher"


def control_groups(pid: int) -> list[Path]:
    found = find_cgroups()
    places = found.controllers.values() if found else ()
    return [group for place in places for group in place.glob(f"{PREFIX}{pid}-*")]


def shared_memory(user: int | None) -> set[Path]:
    """The shared memory objects of the users that submissions run as."""
    owners = {DEDICATED_ID, os.geteuid() or DEDICATED_ID if user is None else user}
    found = set()
    for path in Path("/dev/shm").iterdir():
        with suppress(FileNotFoundError):
            if path.stat().st_uid in owners:
                found.add(path)
    return found


class Campaign:
    """One run of the whole catalogue as one user."""

    def __init__(self, folder: Path, user: int | None, mode: str) -> None:
        copy_for_anybody(folder)
        self.canary = folder / "canary.txt"
        self.canary.write_text("untouched")
        self.canary.chmod(0o666)
        reports = folder / "reports"
        reports.mkdir()
        reports.chmod(0o777)
        report = reports / "report.json"
        listener = Listener()
        shared = shared_memory(user)
        facts = {
            "file": str(self.canary),
            "folder": str(folder),
            "port": listener.port,
            "needle": "never-sent",
        }
        environment = {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "PYTHONPATH": str(folder),
            "PYTHONDONTWRITEBYTECODE": "1",
            "ARENA_TEST_CANARIES": json.dumps(facts),
            "ARENA_TEST_SECRET": SECRET,
            "ARENA_TEST_REPORT": str(report),
        }
        program = str(folder / "integration/sandbox/attacks/runner.py")
        command = [python_for_anybody(), program, mode]
        if mode == "open":
            run_as(user, yard(folder, command), environment, fence_in)
        else:
            run_as(user, command, environment)
        listener.close()
        document = json.loads(report.read_text())
        self.outcomes = document["outcomes"]
        self.left = document["left"]
        self.accepted = listener.accepted
        self.reached = document["reached"]
        self.shared_memory = shared_memory(user) - shared
        self.groups = control_groups(document["pid"])


def _user(kind: str) -> int | None:
    need_isolation()
    if kind == "root":
        if os.geteuid() != 0:
            pytest.skip("only root can start the provider as root")
        return None
    return SOMEBODY if os.geteuid() == 0 else None


@pytest.fixture(scope="module", params=["root", "somebody"])
def campaign(request: pytest.FixtureRequest) -> Iterator[Campaign]:
    user = _user(request.param)
    with _open_folder() as folder:
        yield Campaign(folder, user, "walls")


@pytest.fixture(scope="module")
def control() -> Iterator[Campaign]:
    user = _user("somebody")
    with _open_folder() as folder:
        yield Campaign(folder, user, "open")


@contextmanager
def _open_folder() -> Iterator[Path]:
    """Not one of pytest's folders, which other users cannot enter."""
    with tempfile.TemporaryDirectory(prefix="attacks-") as folder:
        yield Path(folder)


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.id)
def test_attack_is_contained(campaign: Campaign, attack) -> None:
    outcome = campaign.outcomes[attack.id]
    assert "broken" not in outcome, outcome
    assert attack.contained(outcome), outcome
    assert outcome["honest"], "the next honest submission failed"
    assert outcome["seconds"] < 60, outcome
    if attack.language == "command":
        assert outcome["well"], "the sandbox did not survive its command"


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.id)
def test_attack_succeeds_without_walls(control: Campaign, attack) -> None:
    """Or the kernel refuses it to everybody, and the control shows that."""
    outcome = control.outcomes[attack.id]
    if not is_refused_to_everybody(attack, outcome):
        assert succeeded(attack, outcome), f"this test would pass for nothing: {outcome}"


def test_every_attack_has_a_control(control: Campaign) -> None:
    seen = [one for one in ATTACKS if succeeded(one, control.outcomes[one.id])]
    refused = [one for one in ATTACKS if is_refused_to_everybody(one, control.outcomes[one.id])]
    assert len(ATTACKS) == len(seen) + len(refused)
    assert {attack.id for attack in refused} <= set(REFUSED_TO_EVERYBODY)
    assert len(REFUSED_TO_EVERYBODY) == 3, "the list of what has no control does not grow"


def test_nothing_is_left_of_any_attack(campaign: Campaign) -> None:
    assert campaign.left == []
    assert campaign.shared_memory == set()
    assert campaign.groups == []


def test_the_canaries_are_untouched(campaign: Campaign) -> None:
    assert campaign.canary.read_text() == "untouched"
    assert campaign.accepted == 0
    assert SECRET not in json.dumps(campaign.outcomes)


def test_the_control_reaches_the_decoys_and_nothing_else(control: Campaign) -> None:
    assert control.reached > 0
    assert control.accepted == 0


def test_controls_belong_to_attacks() -> None:
    assert set(CONTROLS) | set(REFUSED_TO_EVERYBODY) <= {attack.id for attack in ATTACKS}


def test_attacks_have_names_of_their_own() -> None:
    ids = [attack.id for attack in ATTACKS]
    assert sorted(set(ids)) == sorted(ids)
