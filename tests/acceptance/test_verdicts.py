"""Records, verification and sealed cases from the command line."""

import json
import shutil
import stat
from pathlib import Path

import pytest

from conftest import missing

STANDARD = {
    "type": "test_cases",
    "functionName": "add",
    "cases": [
        {"input": [1, 2], "expected": 3},
        {"input": [2, 2], "expected": 4},
        {"input": [10, -4], "expected": 6, "hidden": True},
    ],
}
GOOD = "def add(a, b):\n    return a + b\n"
LEARNT = "def add(a, b):\n    return {(1, 2): 3, (2, 2): 4}.get((a, b))\n"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    if shutil.which("bwrap") is None:
        missing("bubblewrap")
    (tmp_path / "standard.json").write_text(json.dumps(STANDARD))
    (tmp_path / "good.py").write_text(GOOD)
    (tmp_path / "learnt.py").write_text(LEARNT)
    return tmp_path


def elsewhere(shell, files: Path):
    """Somebody else, with a home of their own."""
    return type(shell)(home=files / "elsewhere")


def test_a_sealed_standard_from_sealing_to_verification_elsewhere(shell, files: Path):
    public = str(files / "public.json")
    sealed = shell.json("standard", "seal", str(files / "standard.json"), "-o", public)
    assert (sealed["public_cases"], sealed["hidden_cases"]) == (2, 1)
    private = Path(sealed["private"])
    assert stat.S_IMODE(private.stat().st_mode) == 0o600
    assert "-4" not in Path(public).read_text()

    good = shell.arena("evaluate", public, str(files / "good.py"))
    assert good.returncode == 0, good.stderr
    done = shell.arena("evaluate", public, str(files / "learnt.py"), "--json")
    assert done.returncode == 1
    verdict = json.loads(done.stdout)
    assert verdict["score"] == 0
    assert verdict["openings"][0]["case"] == {"input": [10, -4], "expected": 6}
    record = verdict["record_cid"]
    assert shell.arena("verify", record).returncode == 0

    other = elsewhere(shell, files)
    without = other.arena("evaluate", public, str(files / "good.py"))
    assert without.returncode == 3
    assert private.name in without.stderr
    given = other.arena("evaluate", public, str(files / "good.py"), "--sealed", str(private))
    assert given.returncode == 0

    archive = str(files / "record.car")
    assert shell.arena("content", "export", record, "-o", archive).returncode == 0
    assert other.arena("verify", record).returncode == 2
    assert other.arena("content", "import", archive).stdout.split()[0] == record
    assert other.json("verify", record)["outcome"] == "holds"


def test_neither_part_of_a_seal_is_overwritten(shell, files: Path):
    words = ("standard", "seal", str(files / "standard.json"))
    public, private = str(files / "public.json"), str(files / "private.json")
    assert shell.arena(*words, "-o", public, "--private", private).returncode == 0
    before = Path(public).read_bytes(), Path(private).read_bytes()
    again = shell.arena(*words, "-o", public, "--private", str(files / "other.json"))
    assert again.returncode == 2
    assert not (files / "other.json").exists()
    again = shell.arena(*words, "-o", str(files / "other.json"), "--private", private)
    assert again.returncode == 2
    assert not (files / "other.json").exists()
    assert (Path(public).read_bytes(), Path(private).read_bytes()) == before
    # Without a name the public part is written next to the whole.
    assert shell.json(*words)["public"] == str(files / "standard.public.json")
    assert shell.arena(*words).returncode == 2


def test_a_forged_record_differs_and_says_where(shell, files: Path):
    (files / "open.json").write_text(json.dumps({**STANDARD, "cases": STANDARD["cases"][:2]}))
    done = shell.arena("evaluate", str(files / "open.json"), str(files / "good.py"), "--json")
    record = json.loads(done.stdout)["record_cid"]
    forged = json.loads(shell.arena("content", "get", record).stdout)
    forged["verdict"]["findings"][1]["passed"] = False
    text = json.dumps(forged, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    cid = shell.arena("content", "put", "-", input=text).stdout.strip()
    found = shell.arena("verify", cid)
    assert found.returncode == 1
    assert "verdict.findings[1].passed" in found.stdout


def test_content_goes_through_a_server_too(shell, files: Path):
    other = elsewhere(shell, files)
    with shell.serving() as api:
        url = str(api.base_url)
        words = ("evaluate", str(files / "standard.json"), str(files / "good.py"))
        (files / "standard.json").write_text(json.dumps({"type": "contains", "contains": ["add"]}))
        done = other.arena("--server", url, *words, "--json")
        record = json.loads(done.stdout)["record_cid"]
        assert other.arena("--server", url, "verify", record).returncode == 0
        archive = str(files / "record.car")
        other.arena("--server", url, "content", "export", record, "-o", archive)
        assert other.arena("content", "import", archive).returncode == 0
        assert other.arena("verify", record).returncode == 0
        put = other.arena("--server", url, "content", "put", str(files / "good.py"))
        assert other.arena("--server", url, "content", "get", put.stdout.strip()).stdout == GOOD
        assert other.arena("--server", url, "content", "import", archive).returncode == 0
        answer = api.get(f"/api/verify/{record}").json()
        assert (answer["outcome"], answer["passed"]) == ("holds", True)
