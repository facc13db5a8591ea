"""Makes the files in golden/ with the programs whose formats they are; graftwork has no part in it.

.venv-peers/bin/python tests/exchange/make_golden.py  (after make peers)
"""

import json
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pgmpy
import pyagrum as gum
import pycrfsuite
import pygms
from pgmpy.factors.discrete import DiscreteFactor
from pgmpy.inference import VariableElimination
from pgmpy.models import DiscreteMarkovNetwork
from pgmpy.readwrite import UAIWriter

FOLDER = Path(__file__).parent / "golden"


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    rng = np.random.default_rng(22)
    write("pgmpy.json", of_pgmpy(rng) | {"version": pgmpy.__version__})
    write("pyagrum.json", of_pyagrum(rng) | {"version": gum.__version__})
    write("pygms.json", of_pygms(rng) | {"version": pygms.__version__})
    write("crfsuite.json", of_crfsuite(rng) | {"version": version("python-crfsuite")})


def write(name: str, found: dict) -> None:
    (FOLDER / name).write_text(json.dumps(found, indent=1) + "\n")


def of_pgmpy(rng) -> dict:
    """A network with 10 and 2 states: as texts "10" comes before "2", and so in the file."""
    cards = {"a": 2, "b": 10, "c": 3}
    network = DiscreteMarkovNetwork([("a", "b"), ("b", "c")])
    for own in (["a"], ["b", "a"], ["c", "b"], ["c"]):
        sizes = [cards[name] for name in own]
        network.add_factors(DiscreteFactor(own, sizes, rng.random(int(np.prod(sizes))) + 1e-5))
    UAIWriter(network).write(str(FOLDER / "pgmpy.uai"))
    engine = VariableElimination(network)
    order = sorted(cards, key=lambda name: (str(cards[name]), name))
    found = [engine.query([name], show_progress=False).values for name in order]
    marginals = [(values / values.sum()).tolist() for values in found]  # they are not normalised
    return {
        "log_partition": float(np.log(network.get_partition_function())),
        "marginals": marginals,
    }


def of_pyagrum(rng) -> dict:
    network = gum.MarkovRandomField()
    for name, card in {"a": 2, "b": 3, "c": 4}.items():
        network.add(gum.LabelizedVariable(name, name, card))
    for own in ([0], [0, 1], [2, 1], [2, 0]):
        tensor = network.addFactor(own)
        tensor.fillWith((rng.random(tensor.domainSize()) + 0.01).tolist())
    gum.saveMRF(network, str(FOLDER / "pyagrum.uai"))
    engine = gum.ShaferShenoyMRFInference(network)
    engine.makeInference()
    return {"marginals": [engine.posterior(i).tolist() for i in range(3)]}


def of_pygms(rng) -> dict:
    cards = [2, 3, 2, 5]
    variables = [pygms.Var(i, card) for i, card in enumerate(cards)]
    scopes = [(0,), (0, 1), (1, 2), (0, 3), (2, 3)]
    factors = []
    for own in scopes:
        table = rng.random([cards[i] for i in own])
        table.flat[0] = 0.0  # an impossible pair of states
        factors.append(pygms.Factor([variables[i] for i in own], table))
    pygms.filetypes.writeUai(str(FOLDER / "pygms.uai"), factors)
    joint = pygms.GraphModel(factors).joint()
    total = joint.sum()
    marginals = [(joint / total).marginal([v]).table.tolist() for v in variables]
    return {"log_partition": float(np.log(total)), "marginals": marginals}


def of_crfsuite(rng) -> dict:
    """Sentences of made words, some attributes with values, names beyond ASCII."""
    labels, words = ["O", "B-Ö", "I-Ö"], [f"w{k}" for k in range(12)] + ["größe", "a:b"]

    def sentence():
        return [
            {"w": words[rng.integers(len(words))], "x": round(float(rng.normal()), 3), "bias": 1.0}
            for _ in range(rng.integers(1, 7))
        ]

    trainer = pycrfsuite.Trainer(verbose=False)
    for _ in range(60):
        items = sentence()
        trainer.append(
            items, [labels[(hash_of(item["w"]) + int(item["x"] > 0)) % 3] for item in items]
        )
    trainer.set_params({"c1": 0.05, "c2": 0.01, "max_iterations": 60})
    trainer.train(str(FOLDER / "tagger.crfsuite"))
    tagger = pycrfsuite.Tagger()
    tagger.open(str(FOLDER / "tagger.crfsuite"))
    X = [sentence() for _ in range(25)] + [[{"never": "seen"}], [{}]]
    predicted, marginals = [], []
    for items in X:
        predicted.append(tagger.tag(items))
        marginals.append(
            [[tagger.marginal(label, t) for label in tagger.labels()] for t in range(len(items))]
        )
    found = tagger.info()
    return {
        "X": X,
        "labels": tagger.labels(),
        "predicted": predicted,
        "marginals": marginals,
        "transitions": [[a, b, w] for (a, b), w in found.transitions.items()],
        "states": [[a, b, w] for (a, b), w in found.state_features.items()],
    }


def hash_of(word: str) -> int:
    return sum(map(ord, word))


if __name__ == "__main__":
    main()
