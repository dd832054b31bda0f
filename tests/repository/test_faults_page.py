"""The page of faults says what the tests say."""

from tests.faults.__main__ import PAGE, page


def test_the_page_of_faults_is_that_of_the_tests():
    assert PAGE.read_text("utf-8") == page(), "run python -m tests.faults"
