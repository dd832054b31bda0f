"""The names of the files of a FileMemory, and the keys that they give back."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vectormem.stores.file.names import file_name, key_of, legacy_file_name

KEYS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=40)
TWIN = st.sampled_from([str.swapcase, str.upper, str.lower, str.title, lambda key: key + ".", lambda key: key + " "])


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("global", "global.json"),
        ("session:a", "session%3aa.json"),
        ("notes#user:Alice", "notes%23user%3a^alice.json"),
        ("a-b_c.d!e~f'g(h)", "a-b_c.d!e~f'g(h).json"),
        ("*", "%2a.json"),
        ("a*b", "a%2ab.json"),
        ("^a", "%5ea.json"),
        ("%41", "%2541.json"),
        ("a+b", "a%2bb.json"),
        ("é", "%c3%a9.json"),
        ("É", "%c3%89.json"),
        ("../../x", "..%2f..%2fx.json"),
        ("/etc/x", "%2fetc%2fx.json"),
        ("a\\..\\b", "a%5c..%5cb.json"),
        (".", "%2e.json"),
        ("..", "%2e%2e.json"),
        ("a.", "a%2e.json"),
        ("a...", "a%2e%2e%2e.json"),
        ("a ", "a%20.json"),
        ("con", "%63on.json"),
        ("CON", "^c^o^n.json"),
        ("nul.txt", "%6eul.txt.json"),
        ("lpt1", "%6cpt1.json"),
        ("com9.a.b", "%63om9.a.b.json"),
        ("aux", "%61ux.json"),
        ("prn", "%70rn.json"),
        ("console", "console.json"),
        ("com", "com.json"),
        ("a.json", "a.json.json"),
    ],
)
def test_a_key_has_exactly_this_file_name_and_gets_it_back(key, name):
    assert file_name(key) == name
    assert key_of(name) == key


@given(KEYS)
def test_key_of_is_the_inverse_of_file_name(key):
    assert key_of(file_name(key)) in ({key} if "+" not in file_name(key) else {None})


@given(KEYS)
def test_key_of_is_the_inverse_of_the_older_names_too(key):
    assert key_of(legacy_file_name(key)) == key


@given(KEYS)
def test_a_name_is_safe_on_every_file_system(key):
    name = file_name(key)
    assert re.fullmatch(r"[a-z0-9%^+\-_.!~'()]+\.json", name)
    assert not re.match(r"(con|prn|aux|nul|com\d|lpt\d)\.", name)
    assert not re.match(r"\.+json$|\.\.?$", name)
    assert len(f"{name}.00000000-0000-0000-0000-000000000000.tmp") <= 255


@given(KEYS, KEYS, TWIN)
def test_two_keys_have_two_names_where_letter_case_does_not_count(key, other, twin_of):
    for second in (other, twin_of(key)):
        assert (file_name(key).casefold() == file_name(second).casefold()) == (key == second)


@pytest.mark.parametrize("length", [181, 300, 5000])
def test_a_long_key_is_cut_and_told_apart_by_a_hash(length):
    key = "user:" + "x" * length
    name = file_name(key)
    assert len(name) == 185
    assert re.fullmatch(r"user%3ax+\+[0-9a-f]{64}\.json", name)
    assert file_name(key + "y") != name
    assert file_name(key[:-1] + "X") != name
    assert key_of(name) is None


def test_the_longest_name_without_a_hash_still_gives_its_key_back():
    assert key_of(file_name("x" * 180)) == "x" * 180
    assert "+" not in file_name("x" * 180)


@pytest.mark.parametrize(
    "name", ["Notes.json", "a%3Ab%3a.json", "%61.json", "^A.json", "^.json", "a%zz.json", "%.json"]
)
def test_a_name_that_no_key_has_gives_no_key_or_one_with_that_older_name(name):
    key = key_of(name)
    assert key is None or name in (file_name(key), legacy_file_name(key))
