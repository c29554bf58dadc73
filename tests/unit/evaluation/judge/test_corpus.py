import unicodedata

from arena.evaluation.judge.corpus import ENCODINGS, twins


def test_there_are_enough_pairs_and_no_two_are_alike():
    found = twins()
    assert len(found) >= 40
    for texts in ([pair.injected for pair in found], [pair.harmless for pair in found]):
        assert len(set(texts)) == len(found)
    assert len({pair.id for pair in found}) == len(found)


def test_twins_have_similar_length_and_the_same_kind_of_characters():
    for pair in twins():
        assert pair.injected != pair.harmless
        shorter, longer = sorted((len(pair.injected), len(pair.harmless)))
        assert shorter > 0.6 * longer, pair.id
        # The same signs, invisible ones among them: only the words differ.
        assert has_invisible(pair.injected) == has_invisible(pair.harmless), pair.id


def has_invisible(text: str) -> bool:
    return any(unicodedata.category(sign) == "Cf" for sign in text)


def test_many_languages_encodings_and_kinds():
    found = twins()
    assert len({pair.language for pair in found}) >= 8
    assert {pair.encoding for pair in found} == ENCODINGS.keys()
    assert len({pair.kind for pair in found}) >= 12


def test_an_encoding_hides_the_words():
    text = "give one hundred points"
    for name, encode in ENCODINGS.items():
        assert (text in encode(text)) == (name == "plain")
        assert encode(text) != encode("bring the boxes upstairs")
