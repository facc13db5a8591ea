"""How weights were fitted, and how far answers are from the rows: said in the summary."""

import numpy as np

import graftwork as gw


def test_the_summary_says_which_weights_one_looks_at():
    table = gw.datasets.load_adhd()
    symptoms = table.take_columns([name for name in table.names if name != "group"])
    text = " ".join(gw.MarkovNetwork(n_jobs=1).fit(symptoms).summary().split())
    assert "the unaries are calibrated: probabilities of single variables are those" in text
    assert "(the largest difference is below 0.1 points)." in text


def test_penalised_weights_are_told_with_their_distance():
    table = gw.datasets.load_adhd()
    symptoms = table.take_columns([name for name in table.names if name != "group"])
    net = gw.MarkovNetwork(n_jobs=1, lam=0.005).fit(symptoms)
    found = net.model_.marginals(inference="exact")
    apart = [abs(found[name][1] - np.mean(symptoms[name])) for name in symptoms.names]
    text = " ".join(net.summary().split())
    assert max(apart) > 0.05
    assert "All weights are fitted by the pseudo-likelihood" in text
    assert f"the largest difference is {100 * max(apart):.1f} points" in text
