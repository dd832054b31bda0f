"""The example runs, and remembers."""

from tests.extras.memories import printed_by_example


def test_the_second_conversation_knows_what_the_first_one_was_told():
    remembered = """memory: ('<memory', ' name="facts">\\n- Ada is vegetarian\\n</memory>')"""
    assert printed_by_example("with_google_adk.py", quiet=False) == [
        "memory: ('', '')",
        "memory: ('', '')",
        "answer: I will remember that.",
        remembered,
        remembered,
        "answer: A mushroom risotto?",
    ]
