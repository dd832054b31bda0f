"""The rule by which providers without vectors find items: whole words that they share with the query."""

import unicodedata
from typing import ClassVar

import pytest

from vectormem.providers.protocol import MemoryProvider
from vectormem.testing.suite import KEY, OTHER_KEY, ProviderFixtures, add_all, texts

_FACTS = ["I have two cats", "Education matters", "AI is everywhere", "The user likes tea", "user preference: tea"]
_SCRIPTS = ["我买了咖啡豆", "東京タワーに行った", "ผมชอบกาแฟ", "커피를 좋아한다", "Москва красивая"]

# query, and what it finds among _FACTS, best first
_WORDS: list[tuple[str, list[str]]] = [
    ("cats", ["I have two cats"]),
    ("cat", ["I have two cats"]),
    ("CAT!", ["I have two cats"]),
    ("TWO?", ["I have two cats"]),
    ("tw", []),
    ("edu", []),
    ("educations", ["Education matters"]),
    ("kitten", []),
    ("AI", ["AI is everywhere"]),
    ("is", ["AI is everywhere"]),
    ("is AI", ["AI is everywhere"]),
    ("is a cat", ["I have two cats"]),
    ("my id", []),
    ("user tea preference", ["user preference: tea", "The user likes tea"]),
    ("tea", ["user preference: tea", "The user likes tea"]),
    ("teas cats", ["user preference: tea", "The user likes tea", "I have two cats"]),
    ("tea tea tea likes", ["The user likes tea", "user preference: tea"]),
]

# stored text, query, whether the query finds it
_PAIRS: list[tuple[str, str, bool]] = [
    ("The boss wears glasses", "boss", True),
    ("The boss wears glasses", "bos", False),
    ("The boss wears glasses", "glasse", True),
    ("drives a bus", "bus", True),
    ("drives a bus", "bu", False),
    ("likes gas stoves", "gas", True),
    ("Grade 4: Week 1", "Grade 4 Week 1", True),
    ("Grade 4: Week 1", "4", True),
    ("I like C++", "C++", True),
    ("I like C++", "C#", True),
    ("it's state-of-the-art", "art", True),
    ("it's state-of-the-art", "it's", True),
    ("uses snake_case names", "case", True),
    ("uses snake_case names", "snake_case", True),
    ("uses snake_case names", "snakecase", False),
    ("opens config.yaml first", "yaml", True),
    ("born in 1984", "1984", True),
    ("born in 1984", "198", False),
    (unicodedata.normalize("NFD", "her résumé is long"), "résumé", True),
    ("her résumé is long", unicodedata.normalize("NFD", "résumé"), True),
    ("her résumé is long", "resume", False),
    ("her résumé is long", "sum", False),
    ("Hauptstraße 5", "HAUPTSTRASSE", True),
    ("HAUPTSTRASSE 5", "hauptstraße", True),
    ("met İnci today", "inci", True),
    ("met inci today", "İnci", True),
    ("speaks Ελληνικός", "ΕΛΛΗΝΙΚΌΣ", True),
    ("likes 🍵 a lot", "🍵", False),
    ("likes 🍵 a lot", "🎉👍🏽", False),
    ("likes tea", "???", False),
    ("likes tea", "--", False),
    ("likes tea", "NEAR(", False),
    ("likes tea", '"tea" OR (x', True),
    ("likes tea", "-tea", True),
    ("likes tea", "te*", False),
    ("likes tea", "%", False),
    ("likes tea", "tea\ud83d", True),
]

# query, and the position in _SCRIPTS of what it finds
_IN_SCRIPTS: list[tuple[str, list[int]]] = [
    ("咖啡", [0]),
    ("咖啡豆", [0]),
    ("咖啡 豆", [0]),
    ("豆", [0]),
    ("茶", []),
    ("东京", []),
    ("東京", [1]),
    ("タワー", [1]),
    ("กาแฟ", [2]),
    ("커피를", [3]),
    ("МОСКВА", [4]),
]


class KeywordSuite(ProviderFixtures):
    """Set `ranks_by_words` to False for a provider that ranks in a way of its own."""

    ranks_by_words: ClassVar[bool] = True

    @pytest.fixture(autouse=True)
    def _applies(self, request: pytest.FixtureRequest) -> None:
        if not self.ranks_by_words and request.function.__qualname__.startswith("KeywordSuite."):
            pytest.skip("ranks_by_words is False: this provider has a ranking of its own")

    @pytest.mark.parametrize(("query", "found"), _WORDS)
    async def test_a_query_finds_the_items_that_share_words_with_it(
        self, provider: MemoryProvider, query: str, found: list[str]
    ) -> None:
        await add_all(provider, KEY, *_FACTS)
        assert texts(await provider.list(KEY, query=query)) == found

    @pytest.mark.parametrize(("text", "query", "finds"), _PAIRS, ids=ascii)
    async def test_words_are_compared_whole_and_folded(
        self, provider: MemoryProvider, text: str, query: str, finds: bool
    ) -> None:
        await add_all(provider, KEY, text, "something else entirely")
        assert texts(await provider.list(KEY, query=query)) == ([text] if finds else [])

    @pytest.mark.parametrize(("query", "positions"), _IN_SCRIPTS)
    async def test_words_are_found_in_every_script(
        self, provider: MemoryProvider, query: str, positions: list[int]
    ) -> None:
        await add_all(provider, KEY, *_SCRIPTS)
        assert texts(await provider.list(KEY, query=query)) == [_SCRIPTS[position] for position in positions]

    async def test_items_that_share_more_words_come_first_and_equal_ones_newest_first(
        self, provider: MemoryProvider
    ) -> None:
        await add_all(provider, KEY, "red", "red green", "green", "red green blue", "blue", "black")
        found = texts(await provider.list(KEY, query="red green blue"))
        assert found == ["red green blue", "red green", "blue", "green", "red"]

    async def test_a_limit_takes_the_best_matches(self, provider: MemoryProvider) -> None:
        await add_all(provider, KEY, "red green blue", "red", "red green", "green")
        assert texts(await provider.list(KEY, query="red green blue", limit=2)) == ["red green blue", "red green"]

    async def test_a_query_finds_nothing_of_another_key(self, provider: MemoryProvider) -> None:
        await provider.add(OTHER_KEY, "likes tea")
        assert texts(await provider.list(KEY, query="tea")) == []

    async def test_results_are_the_stored_items_without_a_score(self, provider: MemoryProvider) -> None:
        plain = await provider.add(KEY, "likes tea")
        rich = await provider.add(KEY, "likes green tea", metadata={"score": "mine"})
        assert list(await provider.list(KEY, query="tea")) == [rich, plain]

    async def test_a_removed_item_is_not_found(self, provider: MemoryProvider) -> None:
        item, _ = await add_all(provider, KEY, "likes tea", "likes coffee")
        await provider.remove(KEY, item.id)
        assert texts(await provider.list(KEY, query="tea likes")) == ["likes coffee"]
