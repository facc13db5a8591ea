"""Test NLPL of lam="auto", goal="prediction" on standard splits, beside the best along the path.

python benchmarks/prediction.py FOLDER [NAME ...]

The folder holds debd/NAME.ts.data.gz and its valid and test parts.
"""

import argparse
import time

import numpy as np
from arguments import folder_parser

import graftwork as gw
from graftwork.data.encoded import prepare
from graftwork.datasets import DEBD_NAMES
from graftwork.estimators.assemble import to_model
from graftwork.grafting import Problem
from graftwork.objectives import PseudoLikelihood
from graftwork.penalties import GroupL1
from graftwork.selection import find_levels
from graftwork.selection.choice import FURTHEST, RATIO
from graftwork.selection.path import LambdaPath

NAMES = ["nltcs", "plants", "msnbc", "jester"]
WORSE = 5
CRITERIA = ["hold-out", "k-fold", "ebic", "ebic-then-refit", "ebic-refit"]


def best_along_the_path(train: np.ndarray, test: np.ndarray) -> tuple[float, float]:
    """The smallest test NLPL of any lambda of the long path, and that lambda.

    The path ends where the test rows themselves have been predicted worse WORSE times in a row.
    """
    table = gw.as_table(train)
    sample = prepare(table)
    objective = PseudoLikelihood(sample)
    rng = np.random.default_rng(0)
    walk = LambdaPath(lambda lam: Problem(objective, GroupL1(lam)), rng=rng)
    levels = find_levels(walk.problem_at(1.0))
    lam, scores = 1.02 * levels.largest, []
    while lam >= FURTHEST * levels.noise:
        model = to_model(table, sample, walk.step(lam).potentials)
        scores.append((-float(model.log_pseudo_likelihood(test, n_jobs=None).mean()), lam))
        lam *= RATIO
        last = [score for score, _ in scores[-WORSE - 1 :]]
        if len(last) > WORSE and last == sorted(last):
            break
    return min(scores)


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    return folder_parser(__doc__, DEBD_NAMES).parse_args(arguments)


def main(chosen: argparse.Namespace) -> None:
    for name in chosen.names or NAMES:
        parts = gw.datasets.load_debd(name, chosen.folder)
        train, test = parts.train.codes.T, parts.test.codes.T  # states as they occur
        start = time.perf_counter()
        best, lam = best_along_the_path(train, test)
        seconds = time.perf_counter() - start
        print(f"{name}: best along the path {best:.4f} at {lam:.3g}, {seconds:.0f} s", flush=True)
        for criterion in CRITERIA:
            start = time.perf_counter()
            net = gw.MarkovNetwork(goal="prediction", criterion=criterion, random_state=0)
            score = -net.fit(train).score(test)
            print(
                f"  {criterion}: {score:.4f} ({score - best:+.4f}) at lambda {net.lam_:.3g}, "
                f"{net.model_.n_edges} edges, {len(net.path_)} lambdas tried, "
                f"converged {net.certificate_.converged}, {time.perf_counter() - start:.0f} s",
                flush=True,
            )


if __name__ == "__main__":
    main(parse())
