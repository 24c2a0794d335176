"""The logarithm of the normal distribution: against SciPy, and compiled against plain Python."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import log_ndtr

from errata.kernels import normal as compiled
from pure import load_pure

pure = load_pure("normal")
EDGES = [-1.0, -35.0, 0.0, 1.0, 8.0, 40.0, -40.0]
GRID = np.array(
    [x for edge in EDGES for x in (np.nextafter(edge, -np.inf), edge, np.nextafter(edge, np.inf))]
    + np.linspace(-60, 12, 20_001).tolist()
)


@pytest.mark.parametrize("kernel", [compiled, pure])
def test_it_is_scipys(kernel: ModuleType) -> None:
    """But for the argument's last bit, which far out is magnified by its square."""
    np.testing.assert_allclose(kernel.log_ndtr(GRID), log_ndtr(GRID), rtol=2e-14, atol=0)


@given(st.lists(st.floats(-1e150, 1e150)))
def test_both_ways_give_the_same_bits(values: list[float]) -> None:
    given = np.array(values, np.float64)
    assert compiled.log_ndtr(given).tobytes() == pure.log_ndtr(given).tobytes()


def test_what_is_no_number_stays_none() -> None:
    assert np.isnan(compiled.log_ndtr(np.array([np.nan]))).all()
    assert compiled.log_ndtr(np.array([np.inf])).tolist() == [0.0]
