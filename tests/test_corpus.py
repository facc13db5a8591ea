"""What failed once, and a few new cases of every target: the fuzzing suite in small."""

import json

import numpy as np
import pytest
from fuzz.cases import CORPUS, try_case
from fuzz.targets import TARGETS

FILES = sorted(CORPUS.glob("*/*.json"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_what_failed_once_holds(path, tmp_path):
    try_case(TARGETS[path.parent.name], json.loads(path.read_text())["case"], tmp_path)


@pytest.mark.parametrize("name", TARGETS)
def test_some_cases_of_each_target(name, tmp_path):
    found = set()
    for seed in range(4):
        folder = tmp_path / str(seed)
        folder.mkdir()
        case = TARGETS[name].make(np.random.default_rng(seed))
        found.add(try_case(TARGETS[name], json.loads(json.dumps(case)), folder))
    assert found <= {"held", "refused"}
