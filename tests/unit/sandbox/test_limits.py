import pytest

from arena.sandbox.limits import ran_out_of_memory


@pytest.mark.parametrize(
    "stderr",
    [
        "Traceback (most recent call last):\n  File 'x'\nMemoryError\n",
        "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory\n 1: 0x",
        "terminate called after throwing an instance of 'std::bad_alloc'\n",
        'Exception in thread "main" java.lang.OutOfMemoryError: Java heap space\n',
        "main.rb:1: failed to allocate memory (NoMemoryError)\n",
        "memory allocation of 4294967296 bytes failed\nAborted\n",
        "fatal error: runtime: out of memory\n",
        "lua: not enough memory\n",
    ],
)
def test_out_of_memory_is_recognised_in_stderr(stderr) -> None:
    assert ran_out_of_memory(stderr)


@pytest.mark.parametrize("stderr", ["", "Segmentation fault\n", "except MemoryError: pass\n"])
def test_other_output_is_not_out_of_memory(stderr) -> None:
    assert not ran_out_of_memory(stderr)


def test_only_the_end_of_stderr_counts() -> None:
    assert not ran_out_of_memory("MemoryError\n" + "later\n" * 5000)
