import asyncio
import contextlib
import os
import venv

import pytest

from arena.agents.connector import MAX_OUTPUT_BYTES
from arena.errors import AgentCrashed, AgentSaidNothing, AgentTimedOut, AgentUnavailable
from arena.models.usage import Usage


async def test_a_function_gets_the_prompt_and_returns_the_answer(bench, ask):
    connector = bench.function("def answer(prompt): return prompt.upper()")
    assert (await ask(connector, "grüße\n🙂")).output == "GRÜSSE\n🙂"


async def test_an_async_function_keeps_its_loop_between_questions(bench, ask):
    connector = bench.function(
        """
        import asyncio
        loops = set()
        async def answer(prompt):
            await asyncio.sleep(0)
            loops.add(id(asyncio.get_running_loop()))
            return str(len(loops))
        """,
        max_concurrency=1,
    )
    assert [(await ask(connector)).output for _ in range(3)] == ["1", "1", "1"]


async def test_a_dict_can_report_usage(bench, ask):
    connector = bench.function(
        """
        def answer(prompt):
            usage = {"input_tokens": 7, "output_tokens": 2, "model": "m", "cost_usd": 0.25}
            return {"output": "yes", "usage": usage}
        """
    )
    answer = await ask(connector)
    assert answer.output == "yes"
    assert answer.usage == Usage(input_tokens=7, output_tokens=2, model="m", cost_usd=0.25)


async def test_a_module_beside_the_agent_file_is_found_first(bench, ask):
    bench.write("http.py", "WHERE = 'beside the file'")
    connector = bench.function("import http\ndef answer(prompt): return http.WHERE")
    assert (await ask(connector)).output == "beside the file"


async def test_arenas_own_modules_do_not_shadow_the_standard_library(bench, ask):
    connector = bench.function(
        "import secrets, http.client\ndef answer(prompt): return str(secrets.__file__)"
    )
    assert "arena" not in (await ask(connector)).output


async def test_printed_output_does_not_mix_with_the_answer(bench, ask):
    connector = bench.function(
        """
        import os, subprocess, sys
        print("while importing")
        def answer(prompt):
            print("to stdout")
            os.write(1, b"to the descriptor\\n")
            subprocess.run(["echo", "from a child"])
            assert sys.stdin.read() == ""
            return "clean"
        """
    )
    assert [(await ask(connector)).output for _ in range(2)] == ["clean", "clean"]


async def test_an_exception_is_a_crash_with_message_and_line_and_the_worker_survives(bench, ask):
    connector = bench.function(
        """
        import os
        def answer(prompt):
            if prompt == "bad":
                raise ValueError("no such node")
            return str(os.getpid())
        """
    )
    first = (await ask(connector)).output
    with pytest.raises(AgentCrashed, match=r"ValueError: no such node \(.*module.py:5, in answer"):
        await ask(connector, "bad")
    assert (await ask(connector)).output == first


@pytest.mark.parametrize(
    ("source", "reference", "reason"),
    [
        ("", "nowhere:answer", "'nowhere:answer' cannot be loaded: .*No module named 'nowhere'"),
        ("", "module:answer", "no attribute 'answer'"),
        ("answer = 5", "module:answer", "is not a function"),
        ("1 / 0", "module:answer", "ZeroDivisionError"),
        ("import sys; sys.exit(4)", "module:answer", "SystemExit: 4"),
        ("import os; os._exit(4)", "module:answer", "exit code 4"),
        ("def answer(:", "module:answer", "SyntaxError"),
    ],
)
async def test_a_load_error_is_reported_and_not_retried(bench, ask, source, reference, reason):
    connector = bench.function(source, callable=reference)
    with pytest.raises(AgentUnavailable, match=reason) as caught:
        await ask(connector)
    assert not caught.value.retryable


async def test_a_time_out_kills_the_worker(bench, ask, is_gone):
    connector = bench.function(
        """
        import os, pathlib, time
        def answer(prompt):
            if prompt == "hang":
                pathlib.Path("pid").write_text(str(os.getpid()))
                while True: time.sleep(1)
            return "ok"
        """
    )
    with pytest.raises(AgentTimedOut):
        await ask(connector, "hang", timeout=1.0)
    assert await is_gone(int((bench.folder / "pid").read_text()))
    assert (await ask(connector)).output == "ok"


async def test_load_time_does_not_count_against_the_timeout(bench, ask):
    connector = bench.function("import time; time.sleep(1.6)\ndef answer(prompt): return 'ok'")
    assert (await ask(connector, timeout=1.5)).output == "ok"


@pytest.mark.parametrize("end", ["os._exit(9)", "os.kill(os.getpid(), 9)", "os.abort()"])
async def test_a_worker_that_dies_fails_only_its_own_question(bench, ask, end):
    connector = bench.function(
        f"""
        import os
        def answer(prompt):
            if prompt == "die":
                {end}
            return "ok"
        """
    )
    assert (await ask(connector)).output == "ok"
    with pytest.raises(AgentCrashed):
        await ask(connector, "die")
    assert (await ask(connector)).output == "ok"


@pytest.mark.parametrize(
    ("value", "fault", "reason"),
    [
        ("None", AgentSaidNothing, "returned None"),
        ("''", AgentSaidNothing, "nothing"),
        ("{'output': ' '}", AgentSaidNothing, "nothing"),
        ("[1]", AgentCrashed, "returned a list; it must return text or a dict"),
        ("{'answer': 1}", AgentCrashed, "returned a dict"),
        ("{'output': {1, 2}}", AgentCrashed, "not JSON serializable"),
        ("exit('bye')", AgentCrashed, "SystemExit: bye"),
    ],
)
async def test_an_invalid_return_value_is_reported(bench, ask, value, fault, reason):
    connector = bench.function(f"def answer(prompt): return {value}")
    with pytest.raises(fault, match=reason):
        await ask(connector)


@pytest.mark.parametrize("character", ["x", "ß", "🙂"])
async def test_a_long_answer_is_truncated_by_bytes_and_marked(bench, ask, character):
    connector = bench.function(f"def answer(prompt): return {character!r} * 50_000_000")
    answer = await ask(connector)
    assert answer.truncated
    assert len(answer.output.encode()) == MAX_OUTPUT_BYTES


async def test_half_a_surrogate_pair_becomes_a_replacement_character(bench, ask):
    connector = bench.function(r"def answer(prompt): return 'a\ud83db\x00🙂'")
    assert (await ask(connector)).output == "a�b�🙂"


async def test_workers_start_as_needed_and_end_with_the_connector(bench, ask_often, is_gone):
    connector = bench.function(
        """
        import os, time
        def answer(prompt):
            time.sleep(0.05)
            return str(os.getpid())
        """
    )
    answers = await ask_often(connector, 9, at_once=3)
    pids = {int(answer.output) for answer in answers}
    assert len(pids) == 3
    await connector.close()
    for pid in pids:
        assert await is_gone(pid)


async def test_cancelling_while_the_worker_starts_leaves_nothing_behind(bench, ask, is_gone):
    connector = bench.function(
        "import os, time; open('pid', 'w').write(str(os.getpid())); time.sleep(60)"
    )
    task = asyncio.create_task(ask(connector))
    while not (bench.folder / "pid").exists() or not (bench.folder / "pid").read_text():
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await is_gone(int((bench.folder / "pid").read_text()))


async def test_a_secret_is_redacted_from_answers_and_exceptions(bench, ask):
    connector = bench.function(
        """
        import os
        def answer(prompt):
            if prompt == "raise":
                raise RuntimeError(os.environ["API_KEY"])
            return os.environ["API_KEY"]
        """,
        env=["API_KEY"],
        environ={"PATH": os.environ["PATH"], "API_KEY": "s3cr3t-value"},
    )
    assert (await ask(connector)).output == "[redacted]"
    with pytest.raises(AgentCrashed, match=r"RuntimeError: \[redacted\]"):
        await ask(connector, "raise")


async def test_closing_while_a_worker_loads_ends_it(bench, ask, is_gone):
    connector = bench.function(
        "import os, time; open('pid', 'w').write(str(os.getpid())); time.sleep(60)"
    )
    task = asyncio.create_task(ask(connector))
    while not (bench.folder / "pid").exists() or not (bench.folder / "pid").read_text():
        await asyncio.sleep(0.01)
    await connector.close()
    with pytest.raises(AgentUnavailable):
        await task
    assert await is_gone(int((bench.folder / "pid").read_text()))


async def test_a_deeply_nested_answer_is_accepted_or_a_crash_of_the_agent(bench, ask):
    connector = bench.function(
        """
        def answer(prompt):
            value = []
            for _ in range(int(prompt)):
                value = [value]
            return {"output": value}
        """
    )
    for depth in range(960, 1000, 2):
        with contextlib.suppress(AgentCrashed):
            assert (await ask(connector, str(depth))).output.startswith("[[")


async def test_a_function_that_writes_into_the_answer_pipe_has_crashed(bench, ask):
    connector = bench.function(
        """
        import os
        def answer(prompt):
            for number in range(3, 20):
                try:
                    os.write(number, b"=nonsense\\n")
                except OSError:
                    pass
            return "never read"
        """
    )
    with pytest.raises(AgentCrashed, match="wrote into the pipe"):
        await ask(connector)


@pytest.fixture
def project(tmp_path):
    """A project with a virtual environment that has a package of its own, and a src layout."""
    folder = tmp_path / "project"
    venv.create(folder / ".venv", symlinks=True, with_pip=False)
    (site,) = (folder / ".venv").glob("lib/python3*/site-packages")
    (site / "only_there.py").write_text("WHERE = 'the virtual environment'")
    (folder / "src").mkdir()
    (folder / "src" / "my_project.py").write_text("NAME = 'the project'")
    return folder


async def test_python_names_the_interpreter_which_needs_no_arena(bench, ask, project):
    connector = bench.function(
        """
        import importlib.util, sys
        import only_there
        def answer(prompt):
            return f"{only_there.WHERE} {sys.prefix} {importlib.util.find_spec('arena')}"
        """,
        python="project/.venv/bin/python",
    )
    output = (await ask(connector)).output
    assert output == f"the virtual environment {project / '.venv'} None"


async def test_path_adds_folders_relative_to_the_file(bench, ask, project):
    connector = bench.function(
        "import my_project\ndef answer(prompt): return my_project.NAME", path=["project/src"]
    )
    assert (await ask(connector)).output == "the project"


async def test_the_users_python_path_is_seen(bench, ask, project, monkeypatch):
    monkeypatch.chdir(project)
    connector = bench.function(
        "import my_project\ndef answer(prompt): return my_project.NAME",
        environ={**os.environ, "PYTHONPATH": "nowhere:src"},  # relative to where Arena runs
    )
    assert (await ask(connector)).output == "the project"


async def test_a_missing_interpreter_is_reported(bench, ask):
    connector = bench.function("", python=".venv/bin/python")
    with pytest.raises(AgentUnavailable, match=r"\.venv/bin/python' was not found") as caught:
        await ask(connector)
    assert not caught.value.retryable
