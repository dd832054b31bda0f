"""The example runs, and remembers."""

from tests.extras.memories import printed_by_example


def test_the_second_conversation_knows_what_the_first_one_was_told():
    assert printed_by_example("with_agent_framework.py") == [
        "instructions: You plan dinners.",
        "instructions: You plan dinners.",
        "answer: I will remember that.",
        'instructions: You plan dinners. |  | <memory name="facts"> | - Ada is vegetarian | </memory>',
        "answer: A mushroom risotto?",
    ]
