"""Own graders as standards: what they count for."""

import pytest

from arena.errors import InvalidInput
from arena.evaluation.reading import read_standard, read_standard_document
from arena.evaluation.request_limits import MAX_GRADERS, read_request
from arena.evaluation.standard import is_graded, passes_from
from arena.evaluation.time_limit import judging_seconds
from arena.sandbox.limits import GRADING_SECONDS

DOCUMENT = {"type": "python", "script": "assert f() == 1", "entry_points": ["f"]}


def test_a_grader_is_graded_and_passes_from_its_score() -> None:
    standard = read_standard("javascript", {"script": "assert(1)"}, pass_score=80)
    assert is_graded(standard)
    assert passes_from(standard, 80)
    assert not passes_from(standard, 60)


def test_the_time_of_a_grader_is_known_before() -> None:
    assert judging_seconds(read_standard_document(DOCUMENT)) == GRADING_SECONDS


def test_a_request_may_have_only_some_graders() -> None:
    document = {"type": "all_of", "all_of": [DOCUMENT] * MAX_GRADERS}
    read_request(document)
    with pytest.raises(InvalidInput, match="11 own graders"):
        read_request({"type": "all_of", "all_of": [DOCUMENT] * (MAX_GRADERS + 1)})
