import os

from arena.evaluation.judge.cache import AnswerCache, Kept
from arena.models.usage import Usage


def kept(text: str = "{}") -> Kept:
    return Kept(text=text, usage=Usage(input_tokens=1, model="m"), attempts=1)


def key(number: int) -> str:
    return f"{number:064x}"[::-1]


def test_what_is_put_in_comes_out(tmp_path):
    AnswerCache(tmp_path, max_entries=10).put(key(1), kept("ü"))
    cache = AnswerCache(tmp_path, max_entries=10)
    assert cache.get(key(1)) == kept("ü")
    assert cache.get(key(2)) is None


def test_it_never_holds_more_than_allowed_and_what_is_used_stays(tmp_path):
    cache = AnswerCache(tmp_path, max_entries=10)
    for number in range(10):
        cache.put(key(number), kept())
        path = tmp_path / key(number)[:2] / key(number)
        os.utime(path, (number, number))
    assert cache.get(key(0)) is not None  # used just now
    cache.put(key(10), kept())
    assert cache.get(key(0)) is not None
    assert cache.get(key(1)) is None
    for number in range(11, 100):
        cache.put(key(number), kept())
        assert sum(path.is_file() for path in tmp_path.rglob("*")) <= 10


def test_a_cache_of_size_zero_keeps_nothing_and_a_huge_answer_is_not_kept(tmp_path):
    AnswerCache(tmp_path / "none", max_entries=0).put(key(1), kept())
    assert not (tmp_path / "none").exists()
    cache = AnswerCache(tmp_path, max_entries=10)
    cache.put(key(1), kept("x" * 300_000))
    assert cache.get(key(1)) is None


def test_a_folder_that_cannot_be_written_to_does_not_fail(tmp_path):
    (tmp_path / "file").write_text("in the way")
    cache = AnswerCache(tmp_path / "file" / "cache", max_entries=10)
    cache.put(key(1), kept())
    assert cache.get(key(1)) is None
