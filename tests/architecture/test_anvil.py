"""The local Ethereum node of the tests is pinned, and its lock names no registry."""

import json
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "scripts" / "anvil"


def test_the_lock_has_hashes_and_no_addresses():
    lock = json.loads((FOLDER / "package-lock.json").read_text())
    packages = {name: entry for name, entry in lock["packages"].items() if name}
    assert packages
    assert not [name for name, entry in packages.items() if "resolved" in entry]
    assert not [name for name, entry in packages.items() if not entry.get("integrity")]
    # No script runs at installation: the program lies in the package.
    assert not [name for name, entry in packages.items() if entry.get("hasInstallScript")]


def test_every_dependency_is_pinned():
    package = json.loads((FOLDER / "package.json").read_text())
    versions = package["optionalDependencies"].values()
    assert versions
    assert not [version for version in versions if not version[0].isdigit()]
