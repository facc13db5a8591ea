"""What reports refuse: one sentence each, and no file."""

import networkx as nx
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import graftwork as gw
from graftwork.errors import DataError, ParameterError
from graftwork.report import chunk_scores, compare_edges, describe_network, plot_path

from doors.report import deal_groups, to_html, view

ALIKE = [[1.0, 0.0], [0.0, 1.0]]
ROWS = [["sun", "dry"], ["rain", "wet"]] * 30


@pytest.fixture(scope="module")
def have():
    """Return what the cases of the table use."""
    chain = {("a", "b"): ALIKE, ("b", "c"): ALIKE}
    given = gw.MarkovNetwork(lam=0.1, random_state=0).fit(ROWS)
    return {
        "model": gw.PairwiseMRF({name: [0, 1] for name in "abcd"}, None, chain),
        "net": given,
        "boot": given.bootstrap(ROWS, 2, case_dropping=False),
        "crf": gw.ChainCRF(lam=0.1).fit([[["w=a"], ["w=b"]]] * 9, [["A", "B"]] * 9),
        "new": gw.MarkovNetwork(),
    }


#: Who is asked, in words of `have`, and what is told.
REFUSED = [
    (lambda model: gw.plot_network(model, "a.docx"), DataError, "use one of"),
    (lambda model: gw.plot_network(model, layout={"a": (0, 0)}), DataError, "no place for b, c"),
    *[
        (lambda model, place=place: gw.plot_network(model, layout={"a": place}), DataError,
         "for 'a'; give two numbers")
        for place in ((0, 1, 2), "ab", (0, float("nan")), None)
    ],
    (lambda model: gw.plot_network(model, layout=[1, 2]), DataError,
     "layout is a list, and .* give a mapping"),
    (lambda model: gw.plot_network(model, layout="spring"), DataError,
     "'spring', and layouts have no names: leave it out"),
    (lambda model: gw.plot_network(model, colors={"a": "no colour"}), DataError,
     "'no colour' for 'a', which is not a colour"),
    (lambda model: gw.plot_network(model, predictability=True), DataError,
     r"pass predictability=net.predictability\(rows\)"),
    (lambda crf: gw.plot_network(crf), DataError, "is not a network; pass a PairwiseMRF"),
    (lambda: gw.plot_network(42), DataError, "is not a network; pass a PairwiseMRF"),
    (lambda model: gw.plot_pair(model, "a", "b", values="odds"), DataError,
     "values is 'odds'; use"),
    (lambda model: gw.plot_pair(model, "a", "d"), DataError, "no edge between 'a' and 'd'"),
    (lambda model: gw.plot_pair(model, "a", "z"), DataError, "'z'"),
    (lambda net: plot_path(net), DataError, "lambda was given"),
    (lambda boot: boot.difference("weights"), DataError, "use one of edges, strength"),
    (lambda boot: boot.difference(level=1.0), DataError, "between 0 and 1"),
    (lambda boot: boot.plot("a.docx"), DataError, "use one of"),
    (lambda boot: boot.plot(panels="edges"), DataError,
     "panels is 'edges'; use one or more of frequencies"),
    (lambda boot: boot.plot(panels=[]), DataError, "use one or more of"),
    (lambda model: describe_network(model, meanings={"a": "word"}), ParameterError,
     "meanings must be a dict of variables"),
    (lambda: gw.describe(3), TypeError, "predictability_"),
    (lambda: to_html(3), TypeError, "no HTML of an object of type int"),
    (lambda: view({"a": 1}), DataError, "a dict cannot be explored"),
    (lambda model: model.explore("net.html", groups=["a"]), ParameterError, "must be a dict"),
    (lambda model: model.explore("net.html", groups={"A": 1}), DataError, "no variable 'A'"),
    (lambda model: model.explore("nowhere/net.html"), FileNotFoundError, "nowhere"),
    *[
        (lambda model, name=name: model.explore(name), ParameterError,
         r"does not end in \.html or \.htm(.|\n)*'net\.html'")
        for name in ("net.pdf", "net.txt", "net")
    ],
    (lambda: gw.evaluate({}, ROWS), DataError, "a dict is not a network"),
    *[
        (lambda bad=bad: deal_groups(4, bad), ParameterError, "groups must")
        for bad in (0, -1, 2.5, True)
    ],
    (lambda: deal_groups(4, 2, "x"), DataError, "random_state is 'x'"),
    *[
        (lambda model, truth=truth: compare_edges(model, truth), DataError, told)
        for truth, told in (
            ([("a", "y")], "the truth has an edge 'a' - 'y', but there is no variable 'y'"),
            ([("a", "a")], "'a' to itself"), ([("a",)], "not a pair"),
            ([("a", "b", "c")], "not a pair"), (["a"], "'a', which is not a pair"),
            ("a", "truth is 'a'"), (3, "truth is 3"), ([(["a"], "b")], "no variable"),
            (nx.path_graph(3), "no variable 0"),
        )
    ],
    *[
        (lambda score=score, wrong=wrong: score(*wrong), DataError, told)
        for score in (chunk_scores, gw.label_scores)
        for wrong, told in (
            (([["O"]], [["O"], ["O"]]), "truth has 1 sequence, but predicted has 2"),
            (([["O"], ["O"]], [["O"], ["O", "O"]]),
             r"sequence 1 .*truth has 1 label, .* has 2\."),
            ((["O", "B-NP"], [["O"]]), "truth has 'O' where a sequence of labels should be"),
            (([["O"]], [1]), "predicted has 1 where"),
        )
    ],
    (lambda: chunk_scores([["B-A"]], [["B-A"]])["XP"], KeyError, "'XP' is neither true nor"),
    *[
        (lambda label=label: chunk_scores([["O"], ["O"]], [["O"], [label]]), DataError,
         "sequence 1 .* is not a chunk tag .*label_scores")
        for label in ("NN", "X-NP", "", "-", "b-NP", 1, None, "OO-A", "O-A")
    ],
    *[
        (ask, NotFittedError, "MarkovNetwork instance is not fitted yet")
        for ask in (
            lambda new: gw.plot_network(new), lambda new: gw.evaluate(new, ROWS),
            lambda new, model: gw.evaluate(model, np.zeros((1, 4), int), truth=new),
            lambda new: gw.compare_edges(new, []), lambda new: new.summary(),
            lambda new: new.score(ROWS), lambda new: new.save("nowhere.gw"),
            lambda new: new.plot(), lambda new: new.plot_pair("a", "b"),
            lambda new: new.explore("net.html"),
        )
    ],
    (lambda: gw.ChainCRF().explore("net.html"), NotFittedError, "not fitted"),
]  # fmt: skip


@pytest.mark.parametrize(("ask", "error", "told"), REFUSED)
def test_wrong_arguments_are_refused_in_one_sentence(ask, error, told, have, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    used = ask.__code__.co_varnames[: ask.__code__.co_argcount - len(ask.__defaults__ or ())]
    with pytest.raises(error, match=told):
        ask(*(have[name] for name in used))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("who", ["boot", "net"])
def test_without_matplotlib_the_extra_is_named(who, have, no_matplotlib):
    with pytest.raises(ImportError, match=r"pip install 'graftwork\[plot\]'"):
        have[who].plot()
