"""The dot product at each level that RIPPLE_ISA names; every length and address in the C++ tests."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ripple import _core
from ripple.errors import DimensionMismatchError

FINITE = st.floats(-100, 100, width=32)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.integers(0, 70).flatmap(lambda n: st.tuples(arrays("f4", n, elements=FINITE), arrays("f4", n, elements=FINITE)))
)
def test_dot_agrees_with_numpy(pair):
    a, b = pair
    wide = a.astype(np.float64) * b.astype(np.float64)
    # float32 rounds to 6e-8; at most 70 / 8 + 4 roundings a chain
    assert _core.dot(a, b) == pytest.approx(wide.sum(), abs=1e-6 * np.abs(wide).sum() + 1e-37)


def test_dot_by_hand():
    a = np.arange(1, 20, dtype=np.float32)
    assert _core.dot(a, np.ones(19, np.float32)) == 190.0  # 19 * 20 / 2, exact in float32
    assert _core.dot(a, a) == 2470.0  # 19 * 20 * 39 / 6


def test_lengths_and_types_must_agree():
    with pytest.raises(DimensionMismatchError, match="a has dimension 2, b has 3"):
        _core.dot(np.ones(2, np.float32), np.ones(3, np.float32))
    with pytest.raises(TypeError):
        _core.dot(np.ones(2), np.ones(2))


def run_at_level(level: str) -> subprocess.CompletedProcess[str]:
    code = (
        "import numpy as np; from ripple import _core;"
        "x = np.sin(np.arange(100, dtype=np.float32)); print(_core.isa_level(), _core.dot(x, x))"
    )
    return subprocess.run(
        [sys.executable, "-P", "-c", code],
        env=os.environ | {"RIPPLE_ISA": level},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("level", ["scalar", "avx2", "avx512"])
def test_the_environment_forces_a_level(level):
    done = run_at_level(level)
    if f"no {level}" in done.stderr:
        assert "set RIPPLE_ISA to a lower level" in done.stderr
        pytest.skip(f"this processor has no {level}")
    name, value = done.stdout.split()
    assert name == level
    x = np.sin(np.arange(100, dtype=np.float32)).astype(np.float64)
    assert float(value) == pytest.approx(x @ x, rel=1e-6)


def test_an_unknown_level_is_an_error():
    done = run_at_level("sse9")
    assert done.returncode != 0
    assert "RIPPLE_ISA is 'sse9'; it must be scalar, avx2 or avx512" in done.stderr
