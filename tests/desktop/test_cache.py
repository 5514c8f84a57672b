# ruff: noqa: E501  # a table: one row, one line
import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omarchy_mcp.desktop.cache import dump, load
from omarchy_mcp.policy.tiers import rate
from policy import omarchy
from policy.samples import record, registry

RATED = rate(registry(record("omarchy a b"), record("omarchy a c")), {"omarchy-a-b": b"#!/bin/bash\nomarchy-a-c\n"})


def test_ratings_come_back_as_they_were() -> None:
    read = load(dump(RATED, "1"), "1")
    assert read is not None
    assert (read.by_binary, read.closures, read.digests) == (RATED.by_binary, RATED.closures, RATED.digests)


def test_another_stamp_holds_nothing() -> None:
    assert load(dump(RATED, "1"), "2") is None


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", "{}", '{"stamp": "1"}', '{"stamp": "1", "rated": {"a": ["safe"]}, "closures": {}, "digests": {}}',
     '{"stamp": "1", "rated": {"a": ["free", "", "", "", []]}, "closures": {}, "digests": {}}', "[" * 100_000],
)  # fmt: skip
def test_a_text_of_another_kind_holds_nothing(text: str) -> None:
    assert load(text, "1") is None


JSON = st.recursive(st.none() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x))


@given(st.text() | JSON.map(json.dumps))
def test_no_text_raises(text: str) -> None:
    load(text, "1")


def test_a_real_registrys_ratings_are_read_in_twenty_milliseconds() -> None:
    text = dump(omarchy.rated(omarchy.DEMO), "1")
    started = time.process_time()
    assert load(text, "1") is not None
    assert time.process_time() - started < 0.02
