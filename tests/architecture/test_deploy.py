"""The files for operators: valid for their tools, and true to what Arena understands."""

import json
import os
import re
import shlex
import socket
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import jsonschema
import kubernetes_validate
import psycopg
import pytest
import typer
import yaml
from typer.core import TyperGroup

from arena.cli.main import app
from arena.settings import READ_ELSEWHERE, Settings
from databases import new_postgres

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text())
MANIFESTS = sorted((DEPLOY / "kubernetes").rglob("*.yaml"))
KUSTOMIZATIONS = [path for path in MANIFESTS if path.name == "kustomization.yaml"]
OBJECTS = [
    pytest.param(document, id=f"{path.parent.name}/{path.stem}-{document['kind']}-{number}")
    for path in MANIFESTS
    if path not in KUSTOMIZATIONS
    for number, document in enumerate(yaml.safe_load_all(path.read_text()))
]
OLDEST_KUBERNETES, NEWEST_KUBERNETES = "1.33", "1.37"
GUIDE = ROOT / "docs" / "operations" / "scale-out.md"
TEXTS = [
    ROOT / "compose.yaml",
    DEPLOY / "Dockerfile",
    DEPLOY / "worker_alive.py",
    *MANIFESTS,
    GUIDE,
]


def services() -> dict[str, dict[str, Any]]:
    return COMPOSE["services"]


def documents() -> list[dict[str, Any]]:
    return [parameter.values[0] for parameter in OBJECTS]


def containers(kind: str | None = None) -> Iterator[dict[str, Any]]:
    """The containers of every pod, perhaps only those of one kind of object."""
    for document in documents():
        if "template" in document.get("spec", {}) and kind in (None, document["kind"]):
            yield from document["spec"]["template"]["spec"]["containers"]


# Valid for their tools


def test_compose_has_the_shape_of_the_compose_specification():
    name = "builtin_schemas/vendor/compose-spec.json"
    schema = json.loads(files("check_jsonschema").joinpath(name).read_text())
    jsonschema.validate(COMPOSE, schema)


@pytest.mark.parametrize("version", [OLDEST_KUBERNETES, NEWEST_KUBERNETES])
@pytest.mark.parametrize("document", OBJECTS)
def test_a_manifest_has_the_shape_of_its_kind(document: dict[str, Any], version: str):
    kubernetes_validate.validate(document, version, strict=True)


@pytest.mark.parametrize("path", KUSTOMIZATIONS, ids=lambda path: path.parent.name)
def test_a_kustomization_names_files_that_exist(path: Path):
    found = yaml.safe_load(path.read_text())
    assert found["kind"] == "Kustomization"
    assert set(found) <= {"apiVersion", "kind", "namespace", "resources", "images"}
    assert [name for name in found["resources"] if not (path.parent / name).is_file()] == []
    left_out = {file.name for file in path.parent.glob("*.yaml")} - set(found["resources"])
    by_choice = {"secret.example.yaml", "secret.yaml", "autoscaling.yaml"}
    assert left_out - {path.name} <= by_choice


def test_every_reference_of_a_manifest_has_its_object():
    known = {(one["kind"], one["metadata"]["name"]) for one in documents()}
    text = json.dumps(documents())
    kinds = {"secretKeyRef": "Secret", "secretRef": "Secret", "configMapRef": "ConfigMap"}
    for key, kind in kinds.items():
        for name in re.findall(rf'"{key}": {{"name": "([^"]+)"', text):
            assert (kind, name) in known, f"{key} {name}"
    for document in documents():
        spec = document.get("spec", {})
        if "template" in spec:
            labels = spec["template"]["metadata"]["labels"]
            assert spec["selector"]["matchLabels"].items() <= labels.items()
            pod = spec["template"]["spec"]
            volumes = {one["name"] for one in pod.get("volumes", ())}
            volumes |= {one["metadata"]["name"] for one in spec.get("volumeClaimTemplates", ())}
            for container in pod["containers"]:
                assert {one["name"] for one in container["volumeMounts"]} == volumes


def test_the_seccomp_profile_refuses_calls_and_allows_what_bubblewrap_needs():
    profile = json.loads((DEPLOY / "seccomp-sandbox.json").read_text())
    assert profile["defaultAction"] == "SCMP_ACT_ALLOW"
    refused = {name for rule in profile["syscalls"] for name in rule["names"]}
    assert all(rule["action"] == "SCMP_ACT_ERRNO" for rule in profile["syscalls"])
    assert {"bpf", "init_module", "kexec_load", "keyctl", "open_by_handle_at"} <= refused
    assert not refused & {"clone", "clone3", "unshare", "setns", "mount", "umount2", "pivot_root"}


# True to what Arena understands


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_every_variable_is_a_setting(path: Path):
    known = {f"ARENA_{name.upper()}" for name in Settings.model_fields} | READ_ELSEWHERE
    assert set(re.findall(r"\bARENA_[A-Z_]+[A-Z]\b", path.read_text())) <= known


def command_lines() -> Iterator[list[str]]:
    """The words after `arena` in compose.yaml, the manifests and the document."""
    for service in services().values():
        if service["image"] == "agent-arena":
            yield service["command"]
    for container in containers():
        if container["image"] == "agent-arena":
            yield container["args"]
    for block in re.findall(r"(?ms)^```\w*\n(.*?)^```", GUIDE.read_text()):
        for line in block.replace("\\\n", " ").splitlines():
            if found := re.match(r"\s*(?:[A-Z_]+=\S+ )*arena (.*)", line):
                words = shlex.split(found[1], comments=True)
                end = next((n for n, word in enumerate(words) if word in ("&", "|", ">")), None)
                yield words[:end]


def accept(words: list[str]) -> None:
    """Parse a command line with the real parser, without executing it."""
    command: Any = typer.main.get_command(app)
    context = command.make_context("arena", list(words))
    while isinstance(command, TyperGroup):
        rest = [*context._protected_args, *context.args]
        name, command, rest = command.resolve_command(context, rest)
        context = command.make_context(name, list(rest), parent=context)


@pytest.mark.parametrize("words", command_lines(), ids=" ".join)
def test_every_command_is_accepted(words: list[str]):
    accept(words)


@pytest.mark.parametrize("document", ["compose.yaml", "kubernetes"])
def test_a_server_on_all_addresses_has_tokens_and_a_worker_has_none(document: str):
    if document == "compose.yaml":
        server = services()["server"]
        assert "0.0.0.0" in server["command"]
        assert server["environment"]["ARENA_TOKENS"].startswith("${ARENA_TOKENS:?")
        workers = [services()["worker"], services()["sandbox-worker"]]
        assert not [one for one in workers if "ARENA_TOKENS" in one["environment"]]
        return
    tokens = {
        one["name"]: {variable["name"] for variable in one["env"]} & {"ARENA_TOKENS"}
        for one in containers("Deployment")
    }
    assert tokens == {"server": {"ARENA_TOKENS"}, "worker": set()}


def test_compose_holds_no_secret_and_git_ignores_the_files_that_do():
    text = (ROOT / "compose.yaml").read_text()
    assert not re.findall(r"(?:PASSWORD|TOKENS|API_KEY): (?!\$\{)", text)
    assert "${POSTGRES_PASSWORD:?" in text
    ignored = (ROOT / ".gitignore").read_text().splitlines()
    assert {"/.env", "/worker.env", "/deploy/kubernetes/secret.yaml"} <= set(ignored)


def test_the_secret_of_the_example_cannot_be_used_as_it_is():
    example = (DEPLOY / "kubernetes" / "secret.example.yaml").read_text()
    (tokens,) = re.findall(r"ARENA_TOKENS: (.*)", example)
    with pytest.raises(ValueError, match="at least 16"):
        Settings(tokens=tokens)
    for document in yaml.safe_load_all(example):
        assert all("REPLACE-ME" in value for value in document["stringData"].values())


def test_the_database_is_published_nowhere_and_the_server_on_loopback_only():
    assert "ports" not in services()["postgres"]
    assert services()["server"]["ports"] == ["${PUBLISH:-127.0.0.1:5109}:5109"]


def test_every_service_is_restarted_and_has_a_health_check():
    for service in services().values():
        assert service["restart"] == "unless-stopped"
        assert service["healthcheck"]["test"]
    assert "/api/ready" in str(services()["server"]["healthcheck"])
    assert "container_name" not in json.dumps(COMPOSE)  # it would forbid --scale


def test_a_worker_has_more_time_to_stop_than_the_longest_question_of_the_manifests():
    seconds = {
        one["spec"]["template"]["spec"]["terminationGracePeriodSeconds"]
        for one in documents()
        if one["metadata"]["name"].endswith("worker") and one["kind"] == "Deployment"
    }
    assert seconds == {330}
    assert services()["worker"]["stop_grace_period"] == "330s"


def test_everything_but_the_sandbox_is_confined():
    for document in documents():
        if "template" not in document.get("spec", {}):
            continue
        pod = document["spec"]["template"]["spec"]
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["automountServiceAccountToken"] is False
        for container in pod["containers"]:
            assert container["securityContext"]["allowPrivilegeEscalation"] is False
            assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        if document["metadata"]["name"] != "sandbox-worker":
            assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}


def test_nothing_may_call_a_worker():
    policies = [one for one in documents() if one["kind"] == "NetworkPolicy"]
    workers = [one for one in policies if one["metadata"]["name"].endswith("worker")]
    assert len(workers) == 2
    assert all("Ingress" in one["spec"]["policyTypes"] for one in workers)
    assert not [rule for one in workers for rule in one["spec"]["ingress"]]


def test_the_image_has_extras_that_exist_and_names_no_registry():
    text = (DEPLOY / "Dockerfile").read_text()
    (extras,) = re.findall(r"ARG EXTRAS=(\S+)", text)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert {"distributed", "sandbox"} <= set(extras.split(","))
    assert set(extras.split(",")) <= set(project["optional-dependencies"])
    images = {*re.findall(r"(?m)^FROM (\S+)", text), "postgres:16", "agent-arena"}
    used = {one["image"] for one in (*services().values(), *containers())}
    assert used <= images
    assert all("/" not in image for image in images)
    assert re.search(r"(?m)^USER 10001", text)


def test_what_the_image_copies_is_not_ignored():
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    kept = {line.removeprefix("!") for line in ignored if line.startswith("!")}
    assert all((ROOT / name).exists() for name in kept)
    assert "deploy/worker_alive.py" in kept
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert {"pyproject.toml", "hatch_build.py", "src", "web", build["project"]["readme"]} <= kept


# Alerts


def test_every_metric_of_an_alert_exists():
    rules = yaml.safe_load((DEPLOY / "alerts.yaml").read_text())["groups"][0]["rules"]
    used = {name for rule in rules for name in re.findall(r"\barena_[a-z_]+", rule["expr"])}
    assert len(used) >= 6
    source = (ROOT / "src" / "arena" / "queue" / "metrics.py").read_text()
    for name in used:
        last = name.removeprefix("arena_").removeprefix("queue_").removesuffix("_total")
        assert re.search(rf'"(?:{name}|{last})"', source), name


# The probe of a worker


def alive(url: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, DEPLOY / "worker_alive.py"],
        env=os.environ | {"ARENA_DATABASE_URL": url},
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize(
    ("host", "silent_seconds", "code", "said"),
    [
        (socket.gethostname(), 1, 0, ""),
        (socket.gethostname(), 3600, 1, "silent for 36"),
        ("another-machine", 1, 1, "no worker of host"),
    ],
)
def test_a_worker_lives_while_its_heartbeat_is_fresh(
    postgres_server: str, postgres_tables: str, host: str, silent_seconds: int, code: int, said: str
):
    with new_postgres(postgres_server, postgres_tables) as url:
        with psycopg.connect(url) as connection:
            connection.execute(
                """
                INSERT INTO arena_workers (
                    id, name, host, pid, version, queues, labels, judges, shards, questions,
                    has_sandbox, is_stopping, busy, done_shards, done_results, started_at, seen_at
                ) VALUES (
                    gen_random_uuid(), 'w', %s, 1, '1', '[]', '[]', '[]', 4, 20,
                    false, false, 0, 0, 0, now(), clock_timestamp() - make_interval(secs => %s)
                )
                """,
                (host, silent_seconds),
            )
        done = alive(url)
    assert (done.returncode, done.stderr) == (code, "")
    assert said in done.stdout


def test_a_real_worker_is_alive(postgres_server: str, postgres_tables: str, tmp_path: Path):
    with new_postgres(postgres_server, postgres_tables) as url:
        worker = subprocess.Popen(
            [sys.executable, "-m", "arena", "worker", "--no-sandbox"],
            cwd=tmp_path,
            env=os.environ | {"ARENA_DATABASE_URL": url, "ARENA_HOME": str(tmp_path)},
            stdout=subprocess.PIPE,
            text=True,
        )
        with worker:
            try:
                assert worker.stdout is not None
                assert "is ready" in worker.stdout.readline()
                done = alive(url)
            finally:
                worker.terminate()
        assert (done.returncode, done.stdout) == (0, "")
        assert worker.returncode == 0
        # It has left: the probe of a container that goes on without it fails.
        assert alive(url).returncode == 1


def test_a_worker_is_not_blamed_for_its_database(postgres_server: str):
    gone = urlsplit(postgres_server)._replace(path="/no_such_database").geturl()
    done = alive(gone)
    assert done.returncode == 0
    assert "the database does not respond" in done.stdout
