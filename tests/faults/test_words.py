"""Faults of searches by words, in every script and with whatever people type."""

import pytest

from embedders import HashEmbedder
from tests.conftest import texts_of
from vectormem import ChatStorage, MemoryInvalidError, blocking

BAD_TEXTS = ["tea\x00pot", "\x00", "hi \ud83d", "\udc00 lone", "", " ", "\n\t\u3000", None, 3, b"tea", ["tea"]]


WITHOUT_WORDS = ["🎉👍🏽", "???", "--", "❤️", "️", "…", "'"]
FORMS = [
    ("my re\u0301sume\u0301", "r\u00e9sum\u00e9"),
    ("my r\u00e9sum\u00e9", "re\u0301sume\u0301"),
    ("İnci", "inci"),
    ("inci", "İNCİ"),
    ("STRASSE", "straße"),
    ("straße", "STRASSE"),
    ("Grade 4: Week 1", "Grade 4 Week 1"),
    ("I like C++", "C++"),
]


@pytest.mark.parametrize("query", ["咖啡", "咖啡豆", "咖啡 豆"])
def test_spaces_between_characters_do_not_matter(every_keyword_place, query):
    """basicmachines-co/basic-memory#1533"""
    memory = blocking(every_keyword_place.open())
    memory.add_many("k", ["我买了咖啡豆", "他喝茶"])
    assert texts_of(memory.list("k", query=query)) == ["我买了咖啡豆"]


@pytest.mark.parametrize("query", WITHOUT_WORDS)
def test_a_query_without_words_matches_nothing(every_keyword_place, query):
    """bigduu/Bamboo-agent#243"""
    memory = blocking(every_keyword_place.open())
    memory.add_many("k", ["tea", "I ❤️ tea", "what???", "🎉"])
    assert memory.list("k", query=query) == []


@pytest.mark.parametrize(("text", "query"), FORMS)
def test_form_case_and_punctuation_do_not_matter(every_keyword_place, text, query):
    """lgse/strata#809, junegunn/fzf#3212, 4gray/iptvnator#609, python/cpython#121678, tinyhumansai/openhuman#5754"""
    memory = blocking(every_keyword_place.open())
    memory.add_many("k", [text, "something else"])
    assert texts_of(memory.list("k", query=query)) == [text]


def test_a_text_comes_back_in_the_form_in_which_it_was_given(every_place):
    """lgse/strata#809"""
    memory = blocking(every_place.open())
    forms = ["re\u0301sume\u0301", "r\u00e9sum\u00e9"]
    memory.add_many("k", forms)
    assert texts_of(memory.list("k")) == forms[::-1]


SYNTAX = [
    "it's",
    "state-of-the-art",
    '"',
    '"unclosed',
    "*",
    "tea*",
    "NEAR(",
    "NEAR(tea, 2)",
    "AND",
    "tea AND",
    "OR NOT",
    "(x",
    "GB/s",
    "-tea",
    "^tea",
    "tea^2",
    "x:y",
    "text:tea",
    "{tea}",
    "tea;--",
    "%",
    "_",
    "\\",
    "[a-",
    "tea\x00",
]


@pytest.mark.parametrize("query", SYNTAX)
def test_no_query_is_a_syntax_error(every_place, query):
    """spences10/ccrecall#29, alibaba/neug#982, ohdearquant/khive#880"""
    memory = blocking(every_place.open())
    memory.add_many("k", ["tea", "coffee"])
    assert set(texts_of(memory.list("k", query=query))) <= {"tea"}


@pytest.mark.parametrize(
    ("query", "found"),
    [("-tea", ["tea"]), ("^tea", ["tea"]), ("tea AND coffee", ["coffee", "tea"]), ("x:tea", ["tea"]), ("te*", [])],
)
def test_signs_of_other_query_languages_are_no_operators(every_keyword_place, query, found):
    """spences10/ccrecall#29"""
    memory = blocking(every_keyword_place.open())
    memory.add_many("k", ["tea", "coffee"])
    assert texts_of(memory.list("k", query=query)) == found


@pytest.mark.parametrize("text", BAD_TEXTS)
def test_a_text_that_cannot_be_stored_everywhere_is_stored_nowhere(every_place, text):
    """frappe/frappe#41128, simonw/llm#546, cocoindex-io/cocoindex#933, nano-step/nano-brain#181"""
    memory = blocking(every_place.open())
    for verb in (
        lambda: memory.add("k", text),
        lambda: memory.add_many("k", ["good", text, "fine"]),
        lambda: memory.upsert("k", text, id="1"),
    ):
        with pytest.raises(MemoryInvalidError):
            verb()
    assert memory.count("k") == 0
    assert memory.scope_keys() == []


def test_a_lone_surrogate_in_a_query_is_no_error(every_place):
    """frappe/frappe#41128"""
    memory = blocking(every_place.open())
    memory.add("k", "tea")
    assert texts_of(memory.list("k", query="tea \ud83d")) == ["tea"]


@pytest.mark.parametrize("item_id", ["\ud83d", "a\x00b", "", "x" * 10_000, "../x", "%", 5, None, b"x", ["x"]])
def test_an_id_that_nobody_has_is_just_unknown(every_place, item_id):
    """simonw/llm#546, Smart-AI-Memory/attune-ai#2135"""
    memory = blocking(every_place.open())
    memory.add("k", "tea")
    assert memory.get("k", item_id) is None
    assert memory.remove("k", item_id) is False
    assert memory.count("k") == 1


RANKED_BY_WORDS = ["keyword", "hybrid"]


@pytest.mark.parametrize("ranking", RANKED_BY_WORDS)
def test_vector_memories_that_rank_by_words_take_any_query_and_find_any_form(every_vector_place, ranking):
    """bigduu/Bamboo-agent#243, spences10/ccrecall#29, lgse/strata#809, 4gray/iptvnator#609"""
    memory = blocking(every_vector_place.open(ranking=ranking))
    memory.add_many("k", ["tea", "coffee", "what???", "🎉"])
    for query in WITHOUT_WORDS:
        assert memory.list("k", query=query) == [], query
    for query in SYNTAX:
        assert set(texts_of(memory.list("k", query=query))) <= {"tea"}, query
    for number, (text, query) in enumerate(FORMS):
        memory.add_many(f"form {number}", [text, "something else"])
        assert texts_of(memory.list(f"form {number}", query=query)) == [text]
    memory.add_many("chinese", ["我买了咖啡豆", "他喝茶"])
    for query in ("咖啡", "咖啡豆", "咖啡 豆"):
        assert texts_of(memory.list("chinese", query=query)) == ["我买了咖啡豆"]


@pytest.mark.parametrize("ranking", RANKED_BY_WORDS)
def test_chats_that_rank_by_words_take_any_query_and_find_any_form(ranking):
    """bigduu/Bamboo-agent#243, spences10/ccrecall#29, lgse/strata#809, 4gray/iptvnator#609"""
    with blocking(ChatStorage(":memory:", embedder=HashEmbedder(), ranking=ranking)) as chat:
        for text in ("a cup of tea", "some coffee", "but what???", "🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉"):
            chat.save_message("c", "user", text)
        for query in WITHOUT_WORDS:
            assert chat.search_messages(query, min_similarity=0) == [], query
        for query in SYNTAX:
            found = [match.text for match in chat.search_messages(query)]
            assert "some coffee" not in found, query
        for text, query in FORMS:
            saved = chat.save_message("forms", "user", text)
            assert [match.message for match in chat.search_messages(query, conversation_id="forms")] == [saved]
            chat.delete_message(saved.id)
