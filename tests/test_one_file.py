"""A method, criterion, penalty and engine, each added by one file and one line."""

import os
import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

ROOT = Path(__file__).parents[1]
PARTS = {
    "backwards.py": '''
        from graftwork.grafting import Exhaustive, Recipe

        class LeastFirst:
            def rank(self, space, view, keys, scores):
                return -scores

        def backwards(count=3):
            """Return a method that activates the smallest violators first."""
            return Recipe("backwards", Exhaustive(count, LeastFirst()))
        ''',
    "aic.py": '''
        from dataclasses import dataclass

        from graftwork.selection.criteria import Judge, ebic_value
        from graftwork.selection.path import Basis, PathPoint

        @dataclass(frozen=True)
        class Aic:
            """The penalised fits by a criterion without a price for the number of pairs."""

            refits = False

            def begin(self, problem_at, folder, rng):
                return Judge(Basis("ebic"), self.points)

            def points(self, paths, lams):
                for lam in lams:
                    fit = paths[0].step(lam)
                    known, sample = fit.certificate, paths[0].problem_at(lam).objective.sample
                    numbers = known.n_edges, known.loss, known.objective
                    value = ebic_value(sample, known.loss, fit.potentials, 0.0)
                    yield PathPoint(lam, *numbers, criterion=value)
        ''',
    "leaning.py": '''
        from graftwork.penalties.lasso import L1

        def leaning(lam, l2=0.0, unary_lam=0.0, unary_l2=0.0):
            """Return l1 with a ridge of its own."""
            return L1(lam, l2 + 0.05, unary_lam, unary_l2)
        ''',
    "listing.py": '''
        from dataclasses import dataclass

        import numpy as np

        from graftwork.inference.engines import Beliefs
        from graftwork.inference.pairs import check_pairs

        @dataclass(frozen=True)
        class Listing:
            """Exact inference by listing all joint states."""


            def describe(self):
                return "exact inference (all joint states)"

            def infer(self, potentials, warm=None):
                layout, joint, log_z = self.list(potentials)
                values = layout.zeros()
                for i in range(layout.n_variables):
                    layout.unary(values, i)[:] = self.sum(joint, i)
                for e, (i, j) in enumerate(layout.edges.tolist()):
                    layout.table(values, e)[:] = self.sum(joint, i, j)
                return Beliefs(layout, values, log_z, True, True, 0.0, 1)

            def pair_marginals(self, potentials, beliefs, pairs):
                layout, joint, _ = self.list(potentials)
                pairs = check_pairs(layout, pairs)
                tables = [np.zeros(0), *(self.sum(joint, i, j).ravel() for i, j in pairs)]
                return np.concatenate(tables), True

            def list(self, potentials):
                layout, weights = potentials.layout, potentials.weights
                states = np.indices(layout.cards)
                logs = np.zeros(states.shape[1:])
                for i in range(layout.n_variables):
                    logs = logs + layout.unary(weights, i)[states[i]]
                for e, (i, j) in enumerate(layout.edges.tolist()):
                    logs = logs + layout.table(weights, e)[states[i], states[j]]
                top = logs.max()
                if top == -np.inf:  # no joint state has any mass
                    return layout, np.zeros_like(logs), -np.inf
                joint = np.exp(logs - top)
                return layout, joint / joint.sum(), float(top + np.log(joint.sum()))

            def sum(self, joint, *kept):
                others = tuple(k for k in range(joint.ndim) if k not in kept)
                table = joint.sum(axis=others)
                return table.T if len(kept) == 2 and kept[0] > kept[1] else table
        ''',
}
# Imported before anything else: where each part is.
PLUGIN = """
    from graftwork.registry import CRITERIA, ENGINES, PENALTIES, RECIPES
    RECIPES.add("backwards", "backwards:backwards", chains=True)
    CRITERIA.add("aic", "aic:Aic", goals=("prediction", "structure"))
    PENALTIES.add("leaning", "leaning:leaning")
    ENGINES.add("listing", "listing:Listing")
    """


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("parts")
    for name, text in PARTS.items():
        (folder / name).write_text(dedent(text), encoding="utf-8")
    (folder / "one_file.py").write_text(dedent(PLUGIN), encoding="utf-8")
    return folder


def run(folder, *command):
    paths = os.pathsep.join([str(folder), *filter(None, sys.path)])
    environment = {**os.environ, "PYTHONPATH": paths, "COLUMNS": "200", "TERM": "dumb"}
    done = subprocess.run(
        [sys.executable, *command], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_estimators_learn_with_each(folder):
    out = run(folder, "-c", dedent("""
        import one_file
        import graftwork as gw
        made = gw.datasets.make_planted_chain(n_chain=4, n_noise=2, n_rows=200, random_state=1)
        def ridge(l2):
            return {"penalty_options": {"l2": l2}}
        def fit(**given):
            net = gw.MarkovNetwork(n_jobs=1, **given).fit(made.data)
            assert net.certificate_.converged
            return net.objective_
        print(fit(method="backwards", lam=0.05) - fit(method="edge-grafting", lam=0.05))
        print(fit(criterion="aic") - fit(criterion="ebic", criterion_options={"gamma": 0.0}))
        print(fit(penalty="leaning", lam=0.05) - fit(penalty="l1", lam=0.05, **ridge(0.05)))
        exact = {"loss": "likelihood", "lam": 0.05, **ridge(0.01)}
        print(fit(inference="listing", **exact) - fit(inference="exact", **exact))
        model = gw.MarkovNetwork("backwards", lam=0.05).fit(made.data).model_
        print(model.log_partition(inference="listing") - model.log_partition(inference="exact"))
        X, Y = [[["a"], ["b"]]] * 3, [["x", "y"]] * 3
        chains = [gw.ChainCRF(m, lam=0.1).fit(X, Y).objective_ for m in ("backwards", "grafting")]
        print(chains[0] - chains[1])
    """))  # fmt: skip
    differences = [abs(float(line)) for line in out.split()]
    assert len(differences) == 6
    assert max(differences) < 1e-5


def test_the_command_line_lists_each(folder):
    start = "import one_file; from graftwork.cli import main; main({!r})"
    learn = run(folder, "-c", start.format(["learn", "--help"]))
    assert all(name in learn for name in ("backwards", "aic", "leaning", "listing"))
    chains = run(folder, "-c", start.format(["crf", "--help"]))
    assert "backwards" in chains
    assert "leaning" in chains


def test_the_contracts_hold_each_to_account(folder):
    chosen = {
        "grafting/test_loop.py": "(dense_optimum and backwards and 21-pseudo)",
        "inference/test_engines.py": "listing",
        "penalties/test_penalties.py": "leaning",
        "selection/test_prediction.py": "(certified_network and aic)",
    }
    options = ["-v", "-p", "one_file", "-p", "no:cacheprovider", "-k", " or ".join(chosen.values())]
    out = run(folder, "-m", "pytest", *options, *(f"tests/{name}" for name in chosen))
    for name in chosen:
        assert re.search(rf"{name}::.* PASSED", out), name
