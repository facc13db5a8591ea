"""The remark on edges between variables that nearly repeat each other."""

import numpy as np

from graftwork import MarkovNetwork


def learned(agreement, share=0.5, rows=600, seed=0):
    rng = np.random.default_rng(seed)
    first = (rng.random(rows) < share).astype(int)
    second = np.where(rng.random(rows) < agreement, first, 1 - first)
    third = np.where(rng.random(rows) < 0.8, first, 1 - first)
    names = np.array(["no", "yes"])
    return MarkovNetwork(random_state=0).fit({"a": first, "b": names[1 - second], "c": third})


def test_near_copies_are_named_however_their_states_are():
    net = learned(0.96)  # 97 % in these rows
    (remark,) = (one for one in net.data_.remarks if "Nearly the same" in one)
    assert "a and b (97%)" in remark
    assert "c" not in remark.split(".")[0].replace("of the rows", "").split(": ")[1].split()
    assert remark in " ".join(net.summary().split())


def test_variables_that_agree_less_or_by_chance_are_not():
    for net in (learned(0.85), learned(0.97, share=0.03)):
        assert not any("Nearly the same" in one for one in net.data_.remarks)
