from arena.agents import NULL_AGENTS


def test_there_are_four_and_they_are_what_they_say():
    assert set(NULL_AGENTS) == {"echo", "silent", "refusal", "apology"}
    assert NULL_AGENTS["echo"]("Which node?") == "Which node?"
    assert NULL_AGENTS["silent"]("Which node?") == ""
    assert "not able to help" in NULL_AGENTS["refusal"]("Which node?")
    assert "error" in NULL_AGENTS["apology"]("Which node?")
