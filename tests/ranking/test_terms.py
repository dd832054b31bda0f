"""Terms: the forms of a word meet, in many languages; words without meaning of their own are not looked up."""

import pytest

from vectormem.ranking.terms import query_terms, telling_terms, terms


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("hiking", "hiked"),
        ("cities", "city"),
        ("STRASSE", "straße"),
        ("Häusern", "Häuser"),
        ("gesprochen", "gesprochene"),
        ("arabalarımızdan", "arabalar"),
        ("İstanbul'da", "istanbul"),
        ("والمدارس", "المدارس"),
        ("résumé", "re\u0301sume\u0301"),
        ("разговаривали", "разговаривать"),
    ],
)
def test_forms_of_a_word_share_a_term(one: str, other: str) -> None:
    assert set(terms(one)) & set(terms(other))


@pytest.mark.parametrize(("one", "other"), [("tea", "team"), ("cat", "education"), ("咖啡", "茶叶"), ("كتب", "بيت")])
def test_other_words_do_not(one: str, other: str) -> None:
    assert not set(terms(one)) & set(terms(other))


def test_scripts_without_spaces_give_characters_and_their_pairs() -> None:
    assert terms("咖啡豆") == ["咖", "啡", "豆", "咖啡", "啡豆"]
    assert terms("買いgreen teas") == ["買", "い", "買い", "green", "tea"]
    assert terms("서울에") == ["서", "울", "에", "서울", "울에"]


def test_they_are_looked_up_by_pairs_unless_one_stands_alone() -> None:
    assert query_terms("咖啡豆") == ["咖啡", "啡豆"]
    assert query_terms("茶") == ["茶"]
    assert query_terms("咖啡 豆") == ["咖啡", "豆"]


def test_terms_are_counted_as_often_as_they_occur() -> None:
    assert terms("Tea, more tea; TEAS") == ["tea", "more", "tea", "tea"]


def test_a_query_is_looked_up_by_the_words_that_carry_meaning() -> None:
    assert query_terms("What did you do with the bicycle?") == ["bicycl"]
    assert query_terms("Was hast du mit dem Fahrrad gemacht?")[-2:] == ["fahrra", "gemach"]
    assert "什么" not in query_terms("你买了什么咖啡")


def test_a_query_of_nothing_else_is_looked_up_as_it_is() -> None:
    assert query_terms("Who are you?") == ["who", "are", "you"]


def test_words_with_a_meaning_in_another_language_are_looked_up() -> None:
    for word in ("war", "die", "man", "hat", "can", "will power"):
        assert query_terms(word)


@pytest.mark.parametrize("text", ["", "?!", "🎉👍🏽", "--", " \n"])
def test_a_text_without_words_has_no_terms(text: str) -> None:
    assert terms(text) == query_terms(text) == telling_terms(text) == []


@pytest.mark.parametrize("query", ["it's", '"', "*", "NEAR(", "AND", "(x", "GB/s", "-tea", "x:y", "^tea", "tea\x00pot"])
def test_no_character_means_anything_special(query: str) -> None:
    assert all(term.isalnum() for term in terms(query))
