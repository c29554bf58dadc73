import asyncio
import json
import os
import time
from pathlib import Path

import pytest

from arena.agents.connector import MAX_OUTPUT_BYTES
from arena.agents.spec import CommandSpec
from arena.errors import AgentCrashed, AgentSaidNothing, AgentTimedOut, AgentUnavailable
from arena.models.usage import Usage


async def test_plain_text_on_stdout_is_the_answer(bench, ask):
    connector = bench.command("print('Hello'); print('there')")
    answer = await ask(connector)
    assert answer.output == "Hello\nthere"
    assert answer.usage == Usage()
    assert not answer.truncated


async def test_the_program_gets_one_json_object_with_the_question(bench, ask):
    connector = bench.command("import sys; print(sys.stdin.read())")
    answer = await ask(connector, 'Ünïcode "quoted"\nline', timeout=7.5, id="nav/1")
    assert json.loads(answer.output) == {
        "id": "nav/1",
        "prompt": 'Ünïcode "quoted"\nline',
        "timeout_seconds": 7.5,
    }


async def test_a_json_object_with_output_can_report_usage(bench, ask):
    connector = bench.command(
        """
        import json
        usage = {"input_tokens": 12, "output_tokens": 3, "model": "m-1", "cost_usd": 0.5}
        print(json.dumps({"output": "42", "usage": usage}))
        """
    )
    answer = await ask(connector)
    assert answer.output == "42"
    assert answer.usage == Usage(input_tokens=12, output_tokens=3, model="m-1", cost_usd=0.5)


async def test_it_runs_in_the_folder_of_its_file_without_a_shell(bench, ask):
    connector = bench.command(
        "import os, sys; print(os.getcwd(), sys.argv[1:])",
        command="{python} program.py '$HOME; echo hi' *",
    )
    answer = await ask(connector)
    assert answer.output == f"{bench.folder} ['$HOME; echo hi', '*']"


async def test_the_environment_is_minimal_plus_what_the_file_names(bench, ask):
    connector = bench.command(
        "import json, os; print(json.dumps(sorted(os.environ)))",
        env=["MY_KEY"],
        environ={
            "PATH": os.environ["PATH"],
            "LC_ALL": "C.UTF-8",
            "MY_KEY": "abc",
            "AWS_SECRET": "never",
            "PYTHONPATH": "/nowhere",
        },
    )
    answer = await ask(connector)
    assert json.loads(answer.output) == [
        "LC_ALL",
        "MY_KEY",
        "PATH",
        "PYTHONUNBUFFERED",
        "PYTHONUTF8",
    ]


async def test_a_non_zero_exit_is_a_crash_with_code_and_stderr(bench, ask):
    connector = bench.command(
        "import sys; print('partial'); print('no battery', file=sys.stderr); sys.exit(3)"
    )
    with pytest.raises(AgentCrashed, match=r"exit code 3: no battery"):
        await ask(connector)


async def test_a_signal_is_named(bench, ask):
    connector = bench.command("import os; os.kill(os.getpid(), 11)")
    with pytest.raises(AgentCrashed, match="SIGSEGV"):
        await ask(connector)


@pytest.mark.parametrize("source", ["", "print()", "print('  ')", "print('{\"output\": null}')"])
async def test_an_empty_output_is_a_fault(bench, ask, source):
    with pytest.raises(AgentSaidNothing):
        await ask(bench.command(source))


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("no-such-program-here", "was not found; install it"),
        ("./program.py", "may not be executed; try: chmod"),
        ("./missing", "was not found"),
    ],
)
async def test_a_program_that_cannot_start_says_what_to_do(bench, ask, command, reason):
    connector = bench.command("", command=command)
    with pytest.raises(AgentUnavailable, match=reason) as caught:
        await ask(connector)
    assert not caught.value.retryable


async def test_a_file_that_is_no_program_is_not_retried(bench, ask):
    bench.write("broken", "\x00garbage").chmod(0o755)
    with pytest.raises(AgentUnavailable, match="cannot be started") as caught:
        await ask(bench.connect(CommandSpec(command="./broken")))
    assert not caught.value.retryable


async def test_a_missing_folder_is_named(bench, ask):
    connector = bench.command("")
    (bench.folder / "program.py").unlink()
    bench.folder.rmdir()
    with pytest.raises(AgentUnavailable, match=r"folder .* does not exist"):
        await ask(connector)


async def test_a_time_out_ends_the_whole_group_even_if_it_ignores_sigterm(bench, ask, is_gone):
    connector = bench.command(
        """
        import os, pathlib, signal, time
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        child = os.fork()
        if child:
            pathlib.Path("pids").write_text(f"{os.getpid()} {child}")
        time.sleep(60)
        """
    )
    begin = time.monotonic()
    with pytest.raises(AgentTimedOut, match=r"within 3 s"):
        await ask(connector, timeout=3.0)
    assert time.monotonic() - begin < 30
    for pid in (bench.folder / "pids").read_text().split():
        assert await is_gone(int(pid))


async def test_a_grandchild_that_holds_stdout_open_does_not_delay_the_answer(bench, ask, is_gone):
    connector = bench.command(
        """
        import os, time
        child = os.fork()
        if not child:
            time.sleep(60)
        print(child)
        """
    )
    begin = time.monotonic()
    answer = await ask(connector)
    assert time.monotonic() - begin < 30
    assert await is_gone(int(answer.output))


async def test_cancelling_ends_the_process(bench, ask, is_gone):
    connector = bench.command(
        """
        import os, pathlib, time
        pathlib.Path("pid.new").write_text(str(os.getpid()))
        os.rename("pid.new", "pid")
        time.sleep(60)
        """
    )
    task = asyncio.create_task(ask(connector))
    while not (bench.folder / "pid").exists():
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await is_gone(int((bench.folder / "pid").read_text()))


async def test_closing_kills_running_programs_without_blaming_the_agent(bench, ask):
    connector = bench.command("import time; time.sleep(60)")
    task = asyncio.create_task(ask(connector))
    await asyncio.sleep(0.1)
    await connector.close()
    with pytest.raises(AgentUnavailable, match="closed"):
        await task


async def test_a_flood_is_cut_at_the_cap_and_marked(bench, ask):
    connector = bench.command(
        """
        import sys
        for _ in range(100):
            sys.stdout.write("x" * 1024 * 1024)
        """
    )
    answer = await ask(connector)
    assert answer.truncated
    assert answer.output == "x" * MAX_OUTPUT_BYTES


async def test_a_flood_on_stderr_neither_blocks_nor_fills_the_message(bench, ask):
    connector = bench.command(
        """
        import sys
        for number in range(200_000):
            print("noise", number, file=sys.stderr)
        sys.exit(1)
        """
    )
    with pytest.raises(AgentCrashed) as caught:
        await ask(connector)
    assert "noise 199999" in caught.value.message
    assert len(caught.value.message) < 2500


async def test_invalid_utf8_and_nul_bytes_become_replacement_characters(bench, ask):
    connector = bench.command("import sys; sys.stdout.buffer.write(b'a\\xff\\xfeb\\x00c')")
    assert (await ask(connector)).output == "a��b�c"


async def test_an_agent_may_close_stdin_without_reading_a_large_prompt(bench, ask):
    connector = bench.command("import os, time; os.close(0); time.sleep(0.1); print('fine')")
    assert (await ask(connector, "x" * 1024 * 1024)).output == "fine"


async def test_a_large_prompt_arrives_whole(bench, ask):
    connector = bench.command(
        "import json, sys, time; time.sleep(0.1); print(len(json.load(sys.stdin)['prompt']))"
    )
    assert (await ask(connector, "x" * 3_000_000)).output == "3000000"


async def test_a_secret_is_redacted_from_output_and_from_errors(bench, ask):
    environ = {"PATH": os.environ["PATH"], "API_KEY": "s3cr3t-value"}
    source = """
        import os, sys
        key = os.environ["API_KEY"]
        if "crash" in sys.stdin.read():
            sys.exit("bad key " + key)
        print("my key is " + key)
        """
    connector = bench.command(source, env=["API_KEY"], environ=environ)
    assert (await ask(connector)).output == "my key is [redacted]"
    with pytest.raises(AgentCrashed) as caught:
        await ask(connector, "crash")
    assert "bad key [redacted]" in str(caught.value)
    assert "s3cr3t" not in repr(caught.value)


async def test_half_a_secret_at_the_cap_is_redacted_too(bench, ask):
    environ = {"PATH": os.environ["PATH"], "API_KEY": "s3cr3t-value"}
    source = f"""
        import os
        print("x" * ({MAX_OUTPUT_BYTES} - 6) + os.environ["API_KEY"])
        """
    answer = await ask(bench.command(source, env=["API_KEY"], environ=environ))
    assert answer.truncated
    assert answer.output.endswith("xx[redacted]")


async def test_no_descriptors_are_left_behind(bench, ask):
    connector = bench.command("print('x')")
    await ask(connector)
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(5):
        await ask(connector)
    assert len(list(Path("/proc/self/fd").iterdir())) == before


async def test_the_prompt_can_be_plain_text_on_stdin(bench, ask):
    connector = bench.command("import sys; print(repr(sys.stdin.read()))", input="text")
    assert (await ask(connector, 'a "b"\n{c}')).output == repr('a "b"\n{c}')


@pytest.mark.parametrize("prompt", ["two words", "$(id); `id` \"'*\n{prompt}", "-v", "ü🙂"])
async def test_the_prompt_can_be_one_argument_and_stdin_is_then_empty(bench, ask, prompt):
    connector = bench.command(
        "import json, sys; print(json.dumps([sys.argv[1:], sys.stdin.read()]))",
        command="{python} program.py --ask={prompt} -- {prompt} last",
    )
    output = json.loads((await ask(connector, prompt)).output)
    assert output == [[f"--ask={prompt}", "--", prompt, "last"], ""]


async def test_an_argument_and_stdin_can_be_used_together(bench, ask):
    connector = bench.command(
        "import json, sys; print(json.loads(sys.stdin.read())['prompt'] + sys.argv[1])",
        command="{python} program.py {prompt}",
        input="json",
    )
    assert (await ask(connector, "twice ")).output == "twice twice"


@pytest.mark.parametrize(
    ("prompt", "reason"),
    [("a\0b", "has a NUL"), ("ü" * 65_536, r"too long for an argument \(131,072 bytes")],
)
async def test_a_prompt_that_no_argument_can_hold_is_refused(bench, ask, prompt, reason):
    connector = bench.command("", command="{python} program.py {prompt}")
    with pytest.raises(AgentUnavailable, match=reason) as caught:
        await ask(connector, prompt)
    assert not caught.value.retryable


async def test_arguments_that_are_too_long_together_are_reported(bench, ask):
    many = " ".join(["{prompt}"] * 100)
    connector = bench.command("", command=f"{{python}} program.py {many}")
    with pytest.raises(AgentUnavailable, match="too long; pass the prompt on stdin") as caught:
        await ask(connector, "x" * 100_000)
    assert not caught.value.retryable
