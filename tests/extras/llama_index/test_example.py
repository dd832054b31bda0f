"""The example runs, and remembers."""

from tests.extras.memories import printed_by_example


def test_the_second_conversation_knows_what_the_first_one_was_told():
    assert printed_by_example("with_llama_index.py") == [
        "memory: []",
        "memory: []",
        "answer: I will remember that.",
        """memory: ['<memory name="facts">\\n- Ada is vegetarian\\n</memory>']""",
        "answer: A mushroom risotto?",
    ]
