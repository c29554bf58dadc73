"""The fields of a thing are listed only in the value, the table, its migration and the types."""

import runpy
from pathlib import Path

import pytest

LINES = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "lines.py"))
MOST = 4


@pytest.mark.parametrize(("title", "places"), LINES["written_out"](LINES["in_folder"]()).items())
def test_the_fields_of_a_thing_are_written_out_at_most_four_times(title: str, places: list[object]):
    assert len(places) <= MOST, f"the fields of {title}:\n" + "\n".join(map(str, places))
