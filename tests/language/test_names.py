"""Keys of names, known names and their aliases."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ripple.language.names import KnownNames, lookup_alias, name_key, resolve_alias


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ada  Moreau ", "ada moreau"),
        ("STRASSE", "straße"),
        ("Zoe\u0301", "Zoé"),
        ("Ａｄａ", "Ada"),
        ("A\u200bda\u202e", "Ada"),
        ("Ada\u00a0Moreau", "Ada Moreau"),
    ],
)
def test_spellings_of_one_name_share_a_key(one: str, other: str) -> None:
    assert name_key(one) == name_key(other)


@pytest.mark.parametrize(("one", "other"), [("Мaya", "Maya"), ("Ada", "Adah"), ("O'Brien", "OBrien")])
def test_different_names_keep_different_keys(one: str, other: str) -> None:
    assert name_key(one) != name_key(other)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.text(max_size=40))
def test_key_of_a_key_is_itself(text: str) -> None:
    assert name_key(name_key(text)) == name_key(text)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("ada moreau", "Ada Moreau"),
        ("Ada", "Ada Moreau"),
        ("Moreau", "Ada Moreau"),
        ("Mel", "Melanie"),
        ("Bob", "Robert Lang"),
        ("Kate", "Katherine"),
        ("Jo", None),
        ("Me", None),
        ("Chris", None),
        ("Maria", None),
        ("Zed", None),
        ("", None),
    ],
)
def test_alias_means_the_one_name_it_fits(name: str, meant: str | None) -> None:
    known = [
        "Ada Moreau",
        "Melanie",
        "Robert Lang",
        "Katherine",
        "Christopher",
        "Christina",
        "Mariana",
        "John",
    ]
    assert resolve_alias(name, known) == meant


def test_alias_of_two_names_means_neither() -> None:
    assert resolve_alias("Mel", ["Melanie", "Melissa"]) is None
    assert resolve_alias("Ada", ["Ada Moreau", "Ada Lund"]) is None
    assert resolve_alias("Sam", ["Sam", "Samantha"]) == "Sam"


def test_look_up_of_full_names_finds_short_forms_through_the_lists() -> None:
    full = {"melanie": "Melanie", "robert": "Robert", "oluwaseun": "Oluwaseun"}

    def exact(name: str, /) -> str | None:
        return full.get(name_key(name))

    assert lookup_alias("Mel", exact) == "Melanie"
    assert lookup_alias("Bob", exact) == "Robert"
    assert lookup_alias("Maria", exact) is None
    full["melissa"] = "Melissa"
    assert lookup_alias("Mel", exact) is None


NAMES = st.sampled_from(["Ada", "Ada Moreau", "Ada Lund", "Mel", "Melanie", "Melissa", "Bo", "ADA", "李明", ""])


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(st.tuples(st.booleans(), NAMES), max_size=20))
def test_known_names_equal_a_fresh_set_after_any_changes(steps: list[tuple[bool, str]]) -> None:
    known = KnownNames()
    shadow: dict[str, str] = {}
    for is_added, name in steps:
        if is_added:
            known.add(name)
            if name:
                shadow.setdefault(name_key(name), name)
        else:
            known.discard(name)
            shadow.pop(name_key(name), None)
    fresh = KnownNames(shadow.values())
    assert len(known) == len(shadow)
    assert set(known) == set(shadow.values())
    for name in ("Ada", "Mel", "moreau", "ADA LUND", "Melan", "李明"):
        assert known.resolve(name) == fresh.resolve(name)
        assert (name in known) == (name_key(name) in shadow)
