"""Keyword and hybrid ranking of messages: words, meaning, and what stands around a message."""

import asyncio

import pytest

from embedders import HashEmbedder
from tests.chat.models import Marked, contents, fill
from vectormem import ChatStorage, MessageMatch, SqliteStore


async def searched(ranking: str, query: str, *texts: str, **options: object) -> list[MessageMatch]:
    chat = ChatStorage(":memory:", embedder=Marked(), ranking=ranking)
    for place, text in enumerate(texts):
        await fill(chat, text, conversation=f"c{place}")
    return list(await chat.search_messages(query, **options))


def test_keyword_ranking_embeds_no_query_and_gives_no_similarity() -> None:
    async def main() -> None:
        model = Marked()
        chat = ChatStorage(":memory:", embedder=model, ranking="keyword")
        await fill(chat, "the violin concert was lovely", "we had dinner afterwards")
        model.fails = True
        found = await chat.search_messages("Which violin concerts?", min_similarity=1)
        assert [(one.text, one.similarity) for one in found] == [("the violin concert was lovely", None)]
        assert await chat.search_messages("what about it?!") == []

    asyncio.run(main())


def test_rarer_words_weigh_more() -> None:
    texts = ["our dog sleeps all day", "our dog eats all day", "a dog and a cat", "the parrot sings"]
    found = asyncio.run(searched("keyword", "the dog and the parrot", *texts))
    assert contents(found)[0] == "the parrot sings"
    assert len(found) == 4


@pytest.mark.parametrize("query", ["咖啡", "咖啡豆", "咖啡 豆", "豆", "买了咖啡豆吗"])
def test_chinese_is_found_with_and_without_spaces(query: str) -> None:
    """basicmachines-co/basic-memory#1533"""
    assert contents(asyncio.run(searched("keyword", query, "我买了咖啡豆", "今天下雨"))) == ["我买了咖啡豆"]


def test_short_messages_are_found_by_their_words() -> None:
    assert contents(asyncio.run(searched("keyword", "Oslo?", "Oslo!", "Lisbon"))) == ["Oslo!"]


def test_similarity_is_the_cosine_and_the_threshold_applies_to_it() -> None:
    common = [f"more talk about the garden {place} cos=0.10" for place in range(30)]
    found = asyncio.run(searched("hybrid", "garden", "the garden gate cos=0.50", "a kitchen cos=0.40", *common))
    assert sorted((one.message.content, one.similarity) for one in found) == [
        ("a kitchen cos=0.40", pytest.approx(0.4)),
        ("the garden gate cos=0.50", pytest.approx(0.5)),
    ]


def test_a_rare_word_admits_a_message_below_the_threshold() -> None:
    others = [f"another talk about tea, number {place} cos=0.05" for place in range(30)]
    found = asyncio.run(searched("hybrid", "tea with Ingeborg", "Ingeborg came by cos=0.01", *others))
    assert [(one.message.content, one.similarity) for one in found] == [
        ("Ingeborg came by cos=0.01", pytest.approx(0.01))
    ]


def test_a_message_without_a_vector_is_admitted_by_a_rare_word() -> None:
    found = asyncio.run(searched("hybrid", "Oslo", "Oslo!", "a message without it cos=0.10"))
    assert [(one.message.content, one.similarity) for one in found] == [("Oslo!", None)]


def test_the_answer_follows_its_question() -> None:
    """The answer shares no word with the query; the question before it does."""

    async def main() -> None:
        chat = ChatStorage(":memory:", embedder=HashEmbedder(), ranking="hybrid")
        await fill(
            chat, "What did you research for the adoption?", "I looked at three agencies in town", conversation="a"
        )
        await fill(chat, "How was your weekend at the lake?", "We went fishing and swam a lot", conversation="b")
        await fill(chat, "I looked at the weather this morning", "It rained the whole day long", conversation="d")
        found = await chat.search_messages("What did she research about adoption?", min_similarity=0)
        assert contents(found)[:2] == ["What did you research for the adoption?", "I looked at three agencies in town"]

    asyncio.run(main())


def test_filters_act_before_the_cut_in_every_ranking() -> None:
    async def main() -> None:
        for ranking in ("vector", "keyword", "hybrid"):
            chat = ChatStorage(":memory:", embedder=HashEmbedder(), ranking=ranking)
            await fill(chat, *[f"the violin concert number {place}" for place in range(20)], conversation="now")
            await fill(chat, "the violin and more things", conversation="then", role="assistant")
            found = await chat.search_messages("violin concert", limit=2, exclude_conversation_id="now")
            assert contents(found) == ["the violin and more things"]
            assert contents(await chat.search_messages("violin concert", limit=2, roles=["assistant"])) == [
                "the violin and more things"
            ]

    asyncio.run(main())


def test_hybrid_embeds_each_message_with_the_one_before_it() -> None:
    async def main() -> None:
        model = Marked()
        chat = ChatStorage(":memory:", embedder=model, ranking="hybrid")
        await fill(chat, "where were you?", "I was in Paris", conversation="a")
        await fill(chat, "something else", conversation="b")
        assert model.documents == [
            "where were you?",
            "I was in Paris",
            "where were you?\nI was in Paris",
            "something else",
        ]

    asyncio.run(main())


def test_rankings_can_change_on_one_store() -> None:
    async def main() -> None:
        with SqliteStore(":memory:") as store:
            await fill(ChatStorage(store, embedder=HashEmbedder(), ranking="keyword"), "the violin concert was lovely")
            for ranking in ("vector", "keyword", "hybrid"):
                chat = ChatStorage(store, embedder=HashEmbedder(), ranking=ranking)
                assert len(await chat.search_messages("violin concert")) == 1

    asyncio.run(main())


def test_words_are_those_of_the_scope_key_alone() -> None:
    """A word that is common among other people's messages is still rare among one's own."""

    async def main() -> None:
        with SqliteStore(":memory:") as store:
            other = ChatStorage(store, embedder=Marked(), scope_key="other", auto_embed_messages=False)
            await fill(other, *[f"Ingeborg again, number {place}" for place in range(50)])
            own = ChatStorage(store, embedder=Marked(), scope_key="own", ranking="hybrid")
            await fill(own, "Ingeborg came by", *[f"more about tea, number {place}" for place in range(30)])
            assert contents(await own.search_messages("tea with Ingeborg")) == ["Ingeborg came by"]

    asyncio.run(main())


@pytest.mark.parametrize("ranking", ["keyword", "hybrid"])
@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("我在哪里买了咖啡豆？", "上周我在车站旁边的小店买了咖啡豆"),
        ("الكتب التي قرأتها", "قرأت هذا الكتاب في الصيف الماضي"),
        ("bisikletim nerede?", "Kırmızı bisikletleri garaja koydum"),
        ("Welche Häuser hat er gebaut?", "Mein Onkel baut gerade ein Haus am See und viele Häuserzeilen"),
        ("Where did she go hiking?", "We hiked up the mountain on Sunday"),
        ("서울에서 먹은 음식", "어제 서울의 식당에 갔어요"),
    ],
)
def test_questions_find_their_answers_in_many_languages(ranking: str, query: str, wanted: str) -> None:
    others = ["Completely different things 一二三", "تحدثنا عن الطقس", "Bugün hava çok güzel", "Es regnet seit gestern"]
    found = asyncio.run(searched(ranking, query, *others, wanted, "我们昨天去了公园", min_similarity=0))
    assert contents(found)[0] == wanted
