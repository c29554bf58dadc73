import json
from dataclasses import asdict

from arena.evaluation.verdict import Finding, Verdict
from arena.runs.verdicts import judged_fields
from factories import a_test

ODD = "nul \0 half \ud83d whole \U0001f600"


def test_whatever_code_returned_a_result_can_be_stored_and_shown():
    finding = Finding(criterion=f"case 1: {ODD}", passed=False, reason=ODD, evidence=ODD)
    verdict = Verdict(score=0, passed=False, reasoning=ODD, findings=(finding,))
    judged = judged_fields(a_test(), verdict)
    text = json.dumps(judged, default=asdict, ensure_ascii=False)
    assert "\0" not in text and "\\u0000" not in text
    assert text.encode().decode() == text
    assert "whole \U0001f600" in text
