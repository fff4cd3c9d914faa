import numpy as np
import pytest
from laya_signals.encode.pooling import mean_pool, unit_rows
from laya_signals.errors import EncodeError


def test_the_mean_is_taken_over_tokens():
    assert mean_pool(np.array([[1, 2], [3, 6]], np.float32)).tolist() == [2, 4]


def test_rows_get_length_one():
    np.testing.assert_allclose(unit_rows(np.array([[3.0, 4.0]])), [[0.6, 0.8]], rtol=1e-6)


@pytest.mark.parametrize("bad", [0.0, np.nan, np.inf])
def test_a_row_without_direction_is_named(bad):
    with pytest.raises(EncodeError, match="text 1"):
        unit_rows(np.array([[1.0, 0.0], [bad, 0.0]]))
