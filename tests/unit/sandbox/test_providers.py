import pytest

from arena.errors import InvalidInput, NotFound
from arena.sandbox.daytona import DaytonaProvider
from arena.sandbox.docker import DockerProvider
from arena.sandbox.namespace.provider import NamespaceProvider
from arena.sandbox.providers import GROUP, known_providers, provider_named


def test_the_built_in_providers_are_found_by_name() -> None:
    assert provider_named("namespace") is NamespaceProvider
    assert provider_named("docker") is DockerProvider
    assert provider_named("daytona") is DaytonaProvider


def test_an_unknown_provider_suggests_the_nearest() -> None:
    with pytest.raises(NotFound, match="did you mean 'docker'"):
        provider_named("dokcer")


def test_other_packages_bring_theirs(tmp_path, monkeypatch) -> None:
    info = tmp_path / "microvm-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: microvm\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{GROUP}]\nmicrovm = microvm_arena:Provider\n")
    (tmp_path / "microvm_arena.py").write_text("class Provider:\n    strong = True\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert known_providers()["microvm"] == "microvm_arena:Provider"
    assert provider_named("microvm").strong is True  # type: ignore[attr-defined]


def test_daytona_needs_a_key() -> None:
    with pytest.raises(InvalidInput, match="ARENA_DAYTONA_API_KEY"):
        DaytonaProvider(api_key="")
