"""Words in any script, folded."""

import pytest

from embedders.words import fold, words


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Tea", "tea"),
        ("STRASSE", "strasse"),
        ("Straße", "strasse"),
        ("İnci", "inci"),
        ("I\u0307nci", "inci"),
        ("re\u0301sume\u0301", "r\u00e9sum\u00e9"),
        ("ΣΊΣΥΦΟΣ", "σίσυφοσ"),
        ("Σίσυφος", "σίσυφοσ"),
        ("ﬁne", "fine"),
        ("한국", "한국"),
    ],
)
def test_case_and_form_do_not_matter(text, folded):
    assert fold(text) == folded
    assert fold(folded) == folded


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ("?! 🎉", []),
        ("It's state-of-the-art_now", ["it", "s", "state", "of", "the", "art", "now"]),
        ("C++ and C#", ["c", "and", "c"]),
        ("Grade 4: Week 1", ["grade", "4", "week", "1"]),
        ("naïve café", ["naïve", "café"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("東京 タワー", ["東京", "タワー"]),
        ("a\u00a0b\u2028c", ["a", "b", "c"]),
        ("x²", ["x²"]),
    ],
)
def test_words_are_runs_of_letters_digits_and_marks(text, found):
    assert words(text) == found
