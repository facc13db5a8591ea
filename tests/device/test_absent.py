"""What is said where PyTorch or a GPU is absent: also without PyTorch."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

import graftwork as gw
from graftwork.errors import ParameterError

ROWS = [["sun", "dry"], ["rain", "wet"]] * 50


@pytest.mark.skipif(find_spec("torch") is not None, reason="PyTorch is installed")
def test_without_pytorch():
    with pytest.raises(ParameterError, match="needs PyTorch, which is not installed"):
        gw.MarkovNetwork(lam=0.1, device="cuda").fit(ROWS)
    assert gw.MarkovNetwork(lam=0.1, device="auto").fit(ROWS).certificate_.converged


def test_other_names_are_refused():
    with pytest.raises(ParameterError, match="device"):
        gw.MarkovNetwork(lam=0.1, device="tpu").fit(ROWS)
