import pytest

from arena.documents.problem import MAX_PROBLEMS, FileProblem, GivenUp, Place, ProblemList


def test_a_problem_reads_as_compilers_write_it() -> None:
    problem = FileProblem(file="a/b.yaml", line=3, column=7, message="is wrong")
    assert str(problem) == "a/b.yaml:3:7: is wrong"


def test_problems_are_reported_from_the_top_of_the_file_to_its_end() -> None:
    problems = ProblemList("f")
    for place in (Place(3, 1), Place(1, 9), Place(1, 2)):
        problems.add(place, "x")
    assert [(p.line, p.column) for p in problems.in_order()] == [(1, 2), (1, 9), (3, 1)]


def test_the_list_is_closed_when_it_is_full() -> None:
    problems = ProblemList("f")
    for _ in range(MAX_PROBLEMS - 1):
        problems.add(Place(1, 1), "x")
    with pytest.raises(GivenUp):
        problems.add(Place(1, 1), "x")
    assert len(problems) == MAX_PROBLEMS + 1
