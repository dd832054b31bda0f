"""Which words an item is found by, and which a query looks for."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vectormem.ranking.words import item_words, query_words

TEXTS = st.text(max_size=60)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", set()),
        (" \n\t", set()),
        ("Sam has two cats.", {"sam", "has", "two", "cat"}),
        ("class glass bus its", {"class", "glass", "bus", "its"}),
        ("gas cats' dogs", {"gas", "cat", "dog"}),
        ("It's state-of-the-art", {"it", "s", "state", "of", "the", "art"}),
        ("snake_case a.b.c", {"snake", "case", "a", "b", "c"}),
        ("I like C++ and C#", {"i", "like", "c", "and"}),
        ("Grade 4: Week 1", {"grade", "4", "week", "1"}),
        ("3.14 1,000 2026-01-02", {"3", "14", "1", "000", "2026", "01", "02"}),
        ("STRASSE", {"strasse"}),
        ("Straße", {"strasse"}),
        ("İnci", {"inci"}),
        ("INCI", {"inci"}),
        ("ﬁne ﬂow", {"fine", "flow"}),
        ("re\u0301sume\u0301", {"r\u00e9sum\u00e9"}),
        ("na\u00efve Caf\u00e9s", {"na\u00efve", "caf\u00e9"}),
        ("ΟΔΟΣ ὁδός", {"οδοσ", "ὁδόσ"}),
        ("Привет, МИР", {"привет", "мир"}),
        ("שלום עולם", {"שלום", "עולם"}),
        ("السلام عليكم", {"السلام", "عليكم"}),
        ("हिन्दी में", {"हिन्दी", "में"}),
        ("한국어 공부", {"한국어", "공부"}),
        ("咖啡豆", {"咖", "啡", "豆", "咖啡", "啡豆"}),
        ("我买 咖啡", {"我", "买", "我买", "咖", "啡", "咖啡"}),
        ("猫", {"猫"}),
        ("東京タワー", {"東", "京", "タ", "ワ", "ー", "東京", "京タ", "タワ", "ワー"}),
        ("iPhone手机16", {"iphone", "手", "机", "手机", "16"}),
        ("ชา", {"ช", "า", "ชา"}),
        ("葛\U000e0101飾", {"葛", "飾", "葛飾"}),
        ("❤️ 🎉 👍🏽 1️⃣", {"1\u20e3"}),
        ("I ❤️ tea", {"i", "tea"}),
        ("tea\u00a0pot\u2003of\u3000mint", {"tea", "pot", "of", "mint"}),
        ("x²", {"x²"}),
    ],
)
def test_an_item_is_found_by_exactly_these_words(text, expected):
    """basicmachines-co/basic-memory#1533, lgse/strata#809, 4gray/iptvnator#609, python/cpython#121678"""
    assert item_words(text) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", set()),
        ("?!", set()),
        ("🎉👍🏽", set()),
        ("❤️", set()),
        ("-- ...", set()),
        ("AI", {"ai"}),
        ("my id", {"my", "id"}),
        ("my cats", {"cat"}),
        ("is it tea", {"tea"}),
        ("as", {"as"}),
        ("gas", {"gas"}),
        ("ids", {"ids"}),
        ("it is 42", {"it", "is", "42"}),
        ("THREE?", {"three"}),
        ("C++", {"c"}),
        ("Grade 4 Week 1", {"grade", "week"}),
        ("it's", {"it", "s"}),
        ("STRASSE", {"strasse"}),
        ("咖啡", {"咖啡"}),
        ("咖啡豆", {"咖啡", "啡豆"}),
        ("咖啡 豆", {"咖啡", "豆"}),
        ("猫", {"猫"}),
        ("my 猫", {"猫"}),
        ("iPhone 手机", {"iphone", "手机"}),
        ("AI手机", {"手机"}),
        ("タワー", {"タワ", "ワー"}),
        ("한국", {"한국"}),
        ("re\u0301sume\u0301", {"r\u00e9sum\u00e9"}),
    ],
)
def test_a_query_looks_for_exactly_these_words(query, expected):
    """bigduu/Bamboo-agent#243, spences10/ccrecall#29"""
    assert query_words(query) == expected


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("我买了咖啡豆", "咖啡"),
        ("我买了咖啡豆", "咖啡豆"),
        ("我买了咖啡豆", "咖啡 豆"),
        ("Straße", "STRASSE"),
        ("STRASSE", "straße"),
        ("İnci", "inci"),
        ("inci", "İNCİ"),
        ("re\u0301sume\u0301", "r\u00e9sum\u00e9"),
        ("Grade 4: Week 1", "Grade 4 Week 1"),
        ("I like C++", "C++"),
        ("A dog", "DOGS"),
        ("He has dogs", "dog"),
        ("Σίσυφος", "ΣΊΣΥΦΟΣ"),
    ],
)
def test_a_query_and_an_item_share_a_word(text, query):
    """basicmachines-co/basic-memory#1533, tinyhumansai/openhuman#5754"""
    assert item_words(text) & query_words(query)


@pytest.mark.parametrize(
    ("text", "query"),
    [("education", "cat"), ("cat", "education"), ("class", "clas"), ("resume", "r\u00e9sum\u00e9"), ("咖啡", "啡咖")],
)
def test_a_part_of_a_word_is_no_word(text, query):
    assert not item_words(text) & query_words(query)


@given(TEXTS)
def test_letter_case_and_unicode_form_do_not_matter(text):
    """lgse/strata#809"""
    for form in ("NFC", "NFD"):
        assert item_words(unicodedata.normalize(form, text)) == item_words(text)
        assert query_words(unicodedata.normalize(form, text)) == query_words(text)


@given(TEXTS)
def test_every_text_with_words_is_found_by_itself(text):
    assert query_words(text) <= item_words(text)
    assert bool(query_words(text)) == bool(item_words(text))


@given(TEXTS)
def test_every_word_holds_a_letter_or_digit(text):
    assert all(any(map(str.isalnum, word)) for word in query_words(text))
