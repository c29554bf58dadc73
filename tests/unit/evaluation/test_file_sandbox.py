"""What is shown of a command that failed."""

from arena.evaluation.file_sandbox import end_of


def test_the_end_of_a_long_output_has_whole_lines():
    text = "Ran 40 tests\nFAIL: a\nFAIL: b"
    assert end_of(text, 100) == text
    assert end_of(text, 18) == "…\nFAIL: a\nFAIL: b"
    assert end_of(text, 10) == "…\nFAIL: b"


def test_the_end_of_one_long_line_is_marked_as_cut():
    assert end_of("x" * 30, 4) == "…xxxx"
