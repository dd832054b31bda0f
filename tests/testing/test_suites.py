"""The conformance suites fail where a provider or an embedder breaks a rule."""

import subprocess
import sys
from pathlib import Path

import pytest

import vectormem.testing
from tests.providers.stand_ins import WrappingProvider

FAULTY = Path(__file__).with_name("faulty.py")

FOUND = [
    ("TestOldestFirst", "test_items_are_listed_newest_first"),
    ("TestInventsIds", "test_add_returns_the_item_that_is_stored"),
    ("TestStoresTwice", "test_a_text_that_is_stored_is_not_stored_again"),
    ("TestRefreshes", "test_a_text_that_is_stored_is_not_stored_again"),
    ("TestSharesKeys", "test_no_key_sees_or_removes_the_items_of_another"),
    ("TestIgnoresCase", "test_no_key_sees_or_removes_the_items_of_another"),
    ("TestIgnoresTheLimit", "test_a_limit_takes_the_newest"),
    ("TestTakesAnyLimit", "test_a_limit_that_is_no_positive_whole_number_is_refused"),
    ("TestFallsBackToAll", "test_a_query_finds_the_items_that_share_words_with_it"),
    ("TestFindsParts", "test_words_are_compared_whole_and_folded"),
    ("TestForgetsMetadata", "test_metadata_comes_back_as_it_was"),
    ("TestPretendsToRemove", "test_a_removed_item_is_gone_and_the_others_stay_in_order"),
    ("TestDropsTheNewest", "test_one_item_too_many_drops_the_oldest"),
    ("TestForgetsAll", "test_items_are_there_after_reopening"),
    ("TestSwallowsFailures", "test_an_add_whose_embedding_fails_stores_nothing"),
    ("TestInvertsScores", "test_the_nearest_item_comes_first_with_its_cosine"),
    ("TestEmbedsTwice", "test_an_add_embeds_the_text_as_a_document"),
    ("TestDoubles", "test_it_returns_one_row_of_float32_for_each_text"),
    ("TestReversed", "test_a_text_gets_the_same_vector_alone_and_among_others"),
    ("TestRandom", "test_equal_texts_get_equal_vectors"),
    ("TestConstant", "test_different_texts_get_different_vectors"),
]


def run_python(*arguments):
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture(scope="module")
def failed():
    """Return which of the tests in FOUND fail, of one run of pytest."""
    tests = [f"{FAULTY}::{kind}::{test}" for kind, test in FOUND]
    finished = run_python("-m", "pytest", "-q", "--tb=no", "-rf", "-p", "no:cacheprovider", "-o", "addopts=", *tests)
    lines = [line for line in finished.stdout.splitlines() if line.startswith("FAILED")]
    assert lines, finished.stdout + finished.stderr
    return {tuple(line.split(" - ")[0].split("[")[0].split("::")[1:]) for line in lines}


@pytest.mark.parametrize(("kind", "test"), FOUND)
def test_a_broken_rule_is_found(failed, kind, test):
    assert (kind, test) in failed


def test_a_test_of_a_verb_that_the_provider_lacks_is_skipped_with_the_reason():
    with pytest.raises(pytest.skip.Exception, match="WrappingProvider has no verb `get`"):
        vectormem.testing.ProviderSuite().test_get_finds_an_item_by_its_id_in_its_key_only(WrappingProvider())


@pytest.mark.parametrize("fixture", ["small_provider", "reopened"])
def test_tests_that_ask_for_a_fixture_that_is_not_given_are_skipped_with_the_reason(fixture):
    with pytest.raises(pytest.skip.Exception, match=f"no fixture `{fixture}`"):
        getattr(vectormem.testing.ProviderSuite, fixture).__wrapped__(None)


def test_a_suite_without_its_fixture_says_which_one_is_missing():
    with pytest.raises(NotImplementedError, match="`provider`"):
        vectormem.testing.ProviderSuite.provider.__wrapped__(None)
    with pytest.raises(NotImplementedError, match="`embedder`"):
        vectormem.testing.EmbedderSuite.embedder.__wrapped__(None)


def test_every_public_name_is_there():
    assert {name for name in vectormem.testing.__all__ if not hasattr(vectormem.testing, name)} == set()


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="NoSuchSuite"):
        _ = vectormem.testing.NoSuchSuite


def test_without_pytest_all_but_the_suites_can_be_used_and_those_name_the_install_line():
    program = """
import sys
sys.modules["pytest"] = None
import vectormem.testing
from vectormem import MissingExtraError
vectormem.testing.ScriptedModel(["hi"])
for name in ("ProviderSuite", "VectorProviderSuite", "EmbedderSuite"):
    try:
        getattr(vectormem.testing, name)
    except MissingExtraError as error:
        print(name, error)
"""
    finished = run_python("-c", program)
    assert finished.stdout.splitlines() == [
        f"{name} {name} needs pytest: pip install 'vectormem[testing]'"
        for name in ("ProviderSuite", "VectorProviderSuite", "EmbedderSuite")
    ], finished.stderr


def test_importing_the_module_imports_no_pytest():
    program = "import sys, vectormem.testing; print('pytest' in sys.modules)"
    assert run_python("-c", program).stdout.strip() == "False"
