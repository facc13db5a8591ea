"""A GPU against the processor, and what it does with many variables and rows.

    python benchmarks/device.py --same 20              the same networks as the processor's?
    python benchmarks/device.py --size 1000 262144     times of a planted five-state network
    python benchmarks/device.py --size 10000 1048576 --steps draw,evaluate,score,fit

Steps are draw, upload, evaluate, score, fit and structure. Every step prints when it is done and is
written to the file of results, so that a run that is cut off still tells.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import pstats
import time
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
from arguments import parser_of

import graftwork as gw
from graftwork.data import Table
from graftwork.data.encoded_parts import prepare_rows
from graftwork.estimators import devices
from graftwork.estimators.devices import on_device
from graftwork.inference import Layout, Potentials
from graftwork.objectives import PseudoLikelihood

try:  # so that --help works without it
    import torch

    from graftwork.device.network import DeviceNetwork
    from graftwork.device.rows import Chunk
except ImportError:
    torch = None  # type: ignore[assignment]

STATES = 5
STEPS = ("draw", "upload", "evaluate", "score", "fit", "structure")


class Notes:
    """What was measured, printed and written as it comes."""

    def __init__(self, path: Path) -> None:
        self.path, self.lines = path, []

    def add(self, **values: Any) -> None:
        self.lines.append(values)
        text = ", ".join(
            f"{k} {v:.4g}" if isinstance(v, float) else f"{k} {v}" for k, v in values.items()
        )
        print(text, flush=True)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(json.dumps(self.lines, indent=1, default=str))


class Clock:
    """Seconds of a block, with the device's work done; a profile where asked for."""

    def __init__(self, profile: bool = False) -> None:
        self.profile = cProfile.Profile() if profile else None
        self.seconds = 0.0

    def __enter__(self) -> Clock:
        _wait()
        self._begun = time.perf_counter()
        if self.profile is not None:
            self.profile.enable()
        return self

    def __exit__(self, *_: Any) -> None:
        _wait()
        if self.profile is not None:
            self.profile.disable()
            pstats.Stats(self.profile).sort_stats("cumulative").print_stats(45)
        self.seconds = time.perf_counter() - self._begun


def _wait() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def planted(n: int, strength: float = 0.7, seed: int = 0) -> tuple[nx.Graph, Potentials]:
    """Return a scale-free network of five-state variables; tables of hubs are weaker."""
    rng = np.random.default_rng(seed)
    graph = nx.barabasi_albert_graph(n, 2, seed=seed + 1)
    edges = np.array(sorted(tuple(sorted(e)) for e in graph.edges))
    layout = Layout.of([STATES] * n, edges)
    degree = np.bincount(edges.ravel(), minlength=n)
    tables = rng.normal(0, strength, (len(edges), STATES, STATES))
    tables -= tables.mean(1, keepdims=True)
    tables -= tables.mean(2, keepdims=True)
    most = degree[edges].max(axis=1)
    tables /= np.sqrt(np.maximum(most / 10, 1))[:, None, None]
    unary = rng.normal(0, 0.3, n * STATES)
    return graph, Potentials(layout, np.concatenate([unary, tables.ravel()]))


def draw(graph: nx.Graph, potentials: Potentials, rows: int, sweeps: int, device: Any) -> Any:
    """Return codes (n, rows) by Gibbs sampling, colour by colour."""
    generator = torch.Generator(device=device).manual_seed(1)
    n = potentials.layout.n_variables
    colour = nx.greedy_color(graph, "smallest_last")
    classes = [
        np.array(sorted(v for v in colour if colour[v] == c))
        for c in range(max(colour.values()) + 1)
    ]
    networks = [DeviceNetwork.of(potentials, own, device) for own in classes]
    codes = torch.randint(
        0, STATES, (n, rows), dtype=torch.uint8, device=device, generator=generator
    )
    for start in range(0, rows, 2**16):
        part = codes[:, start : start + 2**16]
        for _ in range(sweeps):
            for network in networks:
                for some in network.batches(part.shape[1]):
                    p, _logs = network.conditionals(Chunk(part, None), some)
                    levels = p.cumsum_(dim=1)
                    u = torch.rand((len(p), part.shape[1]), device=device, generator=generator)
                    drawn = (levels < u[:, None]).sum(dim=1).clamp_(max=STATES - 1)
                    part[network.nodes[some].long()] = drawn.to(torch.uint8)
    return codes


def table_of(codes: Any) -> Table:
    array = codes.cpu().numpy()
    names = tuple(f"v{i}" for i in range(len(array)))
    return Table.trusted(names, (tuple(range(STATES)),) * len(array), array, None, None)


def edges_of(network: gw.MarkovNetwork) -> set[tuple[Any, ...]]:
    return {tuple(sorted(edge)) for edge in network.model_.edges}


def same(count: int, device: Any, notes: Notes) -> None:
    """Fit small problems on both, and compare."""
    for k in range(count):
        n, rows = 20 + 5 * (k % 4), 3000 * (1 + k % 3)
        graph, potentials = planted(n, seed=k)
        table = table_of(draw(graph, potentials, rows, 60, device))
        for options in ({"lam": 0.01}, {}):
            fits, seconds = [], []
            for where in ("cpu", "cuda"):
                with Clock() as clock:
                    fits.append(gw.MarkovNetwork(device=where, **options).fit(table))
                seconds.append(clock.seconds)
            first, second = fits
            gap = abs(first.certificate_.objective - second.certificate_.objective)
            worst = None
            if not options:
                both = [
                    dict(
                        zip(
                            map(tuple, f.evidence_.edges.pairs.tolist()),
                            f.evidence_.edges.log_p,
                            strict=True,
                        )
                    )
                    for f in fits
                ]
                worst = max(
                    (
                        abs(both[0][e] - both[1][e]) / abs(both[0][e])
                        for e in both[0].keys() & both[1].keys()
                    ),
                    default=0.0,
                )
            notes.add(
                problem=k, n=n, rows=rows, goal="structure" if not options else "lam",
                edges=len(edges_of(first)), different=len(edges_of(first) ^ edges_of(second)),
                objective_gap=gap, log_p_gap=worst, cpu_s=seconds[0], device_s=seconds[1],
            )  # fmt: skip


def sized(n: int, rows: int, given: argparse.Namespace, device: Any, notes: Notes) -> None:
    """Time the steps of one size."""
    steps = given.steps.split(",")
    about = {"n": n, "rows": rows}
    with Clock() as clock:
        graph, potentials = planted(n)
        codes = draw(graph, potentials, rows, given.sweeps, device)
    updates = n * rows * given.sweeps / clock.seconds / 1e9
    notes.add(step="draw", **about, seconds=clock.seconds, billion_updates_s=updates)
    with Clock() as clock:
        table = table_of(codes)
    del codes
    notes.add(step="to host", **about, seconds=clock.seconds)
    truth = {tuple(f"v{i}" for i in pair) for pair in potentials.layout.edges.tolist()}
    truth = {tuple(sorted(edge)) for edge in truth}
    if {"upload", "evaluate", "score"} & set(steps):
        with Clock(given.profile) as clock:
            sample = prepare_rows(on_device(table, "cuda", None))
        notes.add(step="upload and count states", **about, seconds=clock.seconds)
    if "evaluate" in steps or "score" in steps:
        objective = PseudoLikelihood(sample)
        near = Potentials(potentials.layout, potentials.weights * 0.9)
        with Clock(given.profile) as clock:
            point = objective.at(potentials)
        apart = int(point.conditionals.neighbourhoods.apart.sum())
        notes.add(step="first evaluation", **about, seconds=clock.seconds, apart=apart)
        for _ in range(2):
            with Clock(given.profile) as clock:
                objective.at(near)
            notes.add(step="evaluation", **about, seconds=clock.seconds)
    if "score" in steps:
        roots = np.sqrt(sample.declared.astype(float))
        for name in ("score all pairs", "score all pairs again"):
            with Clock(given.profile) as clock:
                largest, count = 0.0, 0
                for tile in point.tiles(np.arange(n)):
                    found = tile.scores(roots, False)
                    largest, count = max(largest, float(found.max())), count + 1
            rate = 2 * (n * (STATES - 1)) ** 2 * rows * 2 / clock.seconds / 1e12
            notes.add(step=name, **about, seconds=clock.seconds, tiles=count, tflops=rate)
        listed = np.random.default_rng(0).integers(0, n, (20000, 2))
        listed = np.unique(np.sort(listed[listed[:, 0] != listed[:, 1]], axis=1), axis=0)
        with Clock(given.profile) as clock:
            point.pair_gradients(listed)
        notes.add(step="listed pairs", **about, seconds=clock.seconds, pairs=len(listed))
    for step, options in (("fit", {"lam": given.lam}), ("structure", {})):
        if step not in steps:
            continue
        with Clock(given.profile) as clock:
            network = gw.MarkovNetwork(device="cuda", verbose=1, **options).fit(table)
        edges = edges_of(network)
        hits = len(edges & truth)
        peak = torch.cuda.max_memory_allocated() / 2**30 if torch.cuda.is_available() else 0.0
        notes.add(
            step=step, **about, seconds=clock.seconds, edges=len(edges), true=len(truth),
            precision=hits / max(1, len(edges)), recall=hits / len(truth), peak_gib=peak,
            converged=network.certificate_.converged,
        )  # fmt: skip


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Return the arguments."""
    parser = parser_of(__doc__ or "")
    parser.add_argument("--same", type=int, default=0, metavar="K", help="problems to fit on both")
    parser.add_argument(
        "--size", type=int, nargs=2, action="append", default=[], metavar=("N", "ROWS")
    )
    parser.add_argument("--steps", default=",".join(STEPS))
    parser.add_argument("--lam", type=float, default=0.006)
    parser.add_argument("--sweeps", type=int, default=30)
    parser.add_argument("--profile", action="store_true", help="where the time goes")
    parser.add_argument(
        "--cpu-tensors", action="store_true", help="PyTorch without a GPU: for trials"
    )
    parser.add_argument("--out", type=Path, default=Path("out/device.json"))
    return parser.parse_args(arguments)


def main() -> None:
    """Measure what is asked for."""
    given = parse()
    if torch is None:
        raise SystemExit("PyTorch is not installed: pip install 'graftwork[gpu]'")
    device = torch.device("cpu" if given.cpu_tensors else "cuda")
    if given.cpu_tensors:
        devices.find_device = lambda name: None if name == "cpu" else device  # type: ignore[assignment]
    notes = Notes(given.out)
    where = "CPU tensors" if given.cpu_tensors else torch.cuda.get_device_name(0)
    notes.add(torch=torch.__version__, device=where)
    if given.same:
        same(given.same, device, notes)
    for n, rows in given.size:
        sized(n, rows, given, device, notes)


if __name__ == "__main__":
    main()
