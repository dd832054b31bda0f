"""The conformance suite of a provider that finds items by words, or in a way of its own."""

from vectormem.testing.capacity_suite import CapacitySuite
from vectormem.testing.durability_suite import DurabilitySuite
from vectormem.testing.items_suite import ItemsSuite
from vectormem.testing.keyword_suite import KeywordSuite
from vectormem.testing.verbs_suite import VerbsSuite


class ProviderSuite(ItemsSuite, VerbsSuite, KeywordSuite, CapacitySuite, DurabilitySuite):
    """Every rule of a memory provider, as tests for pytest.

    Subclass it as `Test...` and give the fixture `provider`: a new, empty provider that holds at least
    1,000 items a key. The fixtures `small_provider` (three items a key) and `reopened` (a function that
    opens the same storage again) bring in further tests. Tests of verbs that the provider lacks are
    skipped; set `ranks_by_words = False` where it has a ranking of its own, and a test to None to leave
    it out.
    """
