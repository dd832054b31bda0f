"""The conformance suite of a provider that finds items by meaning."""

from vectormem.providers.protocol import MemoryProvider
from vectormem.testing.capacity_suite import CapacitySuite
from vectormem.testing.durability_suite import DurabilitySuite
from vectormem.testing.embedding_suite import EmbeddingSuite
from vectormem.testing.items_suite import ItemsSuite
from vectormem.testing.reindex_suite import ReindexSuite
from vectormem.testing.scores_suite import ScoresSuite
from vectormem.testing.verbs_suite import VerbsSuite


class VectorProviderSuite(
    ScoresSuite, EmbeddingSuite, ReindexSuite, ItemsSuite, VerbsSuite, CapacitySuite, DurabilitySuite
):
    """Every rule of a vector provider, as tests for pytest.

    Subclass it as `Test...` and give the fixture `provider(self, embedder)`: a new, empty provider with
    that embedder, a least score of 0.2 and room for at least 1,000 items a key. The fixtures
    `small_provider(self, embedder)` (three items a key) and `reopened(self, embedder)` (a function that
    opens the same storage again, with another embedder where it gets one) bring in further tests. Tests
    of verbs that the provider lacks are skipped; set a test to None to leave it out.
    """

    async def test_the_provider_says_that_it_ranks_by_meaning(self, provider: MemoryProvider) -> None:
        assert getattr(provider, "ranks_by_meaning", False) is True
