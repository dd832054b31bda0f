import json

import pytest

from vectormem import MemoryInvalidError, StorageFailedError
from vectormem.mcp_server.caller import Caller
from vectormem.mcp_server.tokens import Tokens, read_tokens

ADA = "a" * 16
BOB = "b0.B_~+/-" + "b" * 16 + "=="


@pytest.fixture
def file(tmp_path):
    """Write a tokens file that only its owner can read."""

    def write(text):
        path = tmp_path / "tokens.json"
        path.touch(mode=0o600)
        path.write_text(text if isinstance(text, str) else json.dumps(text))
        return path

    return write


def test_a_token_proves_its_principal():
    tokens = Tokens({ADA: "ada", BOB: "bob"})
    assert [tokens.caller(ADA), tokens.caller(BOB)] == [Caller("ada"), Caller("bob")]


@pytest.mark.parametrize("token", ["", ADA[:-1], ADA + "a", ADA.upper(), f" {ADA}", "ä" * 16, "\ud800"])
def test_another_token_proves_nobody(token):
    assert Tokens({ADA: "ada"}).caller(token) is None


def test_a_token_without_a_principal_proves_the_only_user():
    assert Tokens({ADA: None}).caller(ADA) == Caller(None)


def test_a_principal_may_have_two_tokens():
    assert Tokens({ADA: "ada", BOB: "ada"}).callers == [Caller("ada")]


@pytest.mark.parametrize("token", ["", "a" * 15, "a" * 15 + " ", "a" * 16 + "\n", "ä" * 16, "a" * 20 + "=a"])
def test_a_token_that_is_weak_or_cannot_be_sent_is_refused_without_being_shown(token):
    with pytest.raises(MemoryInvalidError, match="token 2 must have at least 16 characters") as caught:
        Tokens({ADA: "ada", token: "bob"})
    assert not token or token not in str(caught.value)


@pytest.mark.parametrize("principal", ["", "  "])
def test_a_blank_principal_is_refused(principal):
    with pytest.raises(MemoryInvalidError, match="the principal of token 1 is blank"):
        Tokens({ADA: principal})


def test_a_file_maps_tokens_to_principals(file):
    tokens = read_tokens(file({ADA: "ada", BOB: "bob"}))
    assert (tokens.caller(BOB), len(tokens.callers)) == (Caller("bob"), 2)


DOUBLED = '{"aaaaaaaaaaaaaaaa": "ada", "aaaaaaaaaaaaaaaa": "bob"}'


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{", '"a"', '{"aaaaaaaaaaaaaaaa": 1}', '{"aaaaaaaaaaaaaaaa": null}', "[" * 100_000, DOUBLED],
    ids=range(8),
)
def test_a_file_of_another_form_is_refused_without_its_text(file, text):
    with pytest.raises(MemoryInvalidError, match="it must be JSON of the form") as caught:
        read_tokens(file(text))
    assert "aaaaaaaaaaaaaaaa" not in str(caught.value)


def test_an_empty_file_of_tokens_is_refused(file):
    with pytest.raises(MemoryInvalidError, match="nobody could use the server"):
        read_tokens(file({}))


def test_a_missing_file_is_an_error_that_names_it(tmp_path):
    with pytest.raises(StorageFailedError, match=r"no-such\.json cannot be read"):
        read_tokens(tmp_path / "no-such.json")


def test_a_file_that_others_can_read_is_warned_of(file, caplog):
    path = file({ADA: "ada"})
    read_tokens(path)
    assert caplog.messages == []
    path.chmod(0o644)
    read_tokens(path)
    assert ["644" in message and ADA not in message for message in caplog.messages] == [True]
