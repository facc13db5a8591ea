"""A GPU against the processor, and what it does with many variables and rows.

    python benchmarks/device.py --same 20              the same networks as the processor's?
    python benchmarks/device.py --size 1000 262144     times of a planted five-state network
    python benchmarks/device.py --size 10000 1048576 --steps kernels,evaluate,score,fit
    python benchmarks/device.py --beside 600 19000     goal="structure" on two cores and on the GPU
    python benchmarks/device.py --binary 100000 10000  a certified network of binary variables

Steps are kernels (beside the least they can take), upload, evaluate, score, fit and structure.
Every step prints when it is done and is written to the file of results, so that a run that is cut
off still tells.
"""

from __future__ import annotations

import argparse
import json
import sys
import threading
import time
from collections import Counter
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
from graftwork.inference.device.drawing import gibbs_sample_on
from graftwork.objectives import PseudoLikelihood

try:  # so that --help works without it
    import torch

    from graftwork.device import counting, kernels
    from graftwork.device.counting import Lines, product
    from graftwork.device.memory import tensor
    from graftwork.device.network import DeviceNetwork
    from graftwork.device.rows import Chunk, DeviceRows
except ImportError:
    torch = None  # type: ignore[assignment]

STATES = 5
# What one H200 moves and multiplies in a second.
BYTES_S, FLOPS = 4.3e12, 790e12
STEPS = ("kernels", "upload", "evaluate", "score", "fit", "structure")


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
    """Seconds of a block, with the device's work done; where they went, if asked for."""

    def __init__(self, profile: bool = False) -> None:
        self.profile = Profile() if profile else None
        self.seconds = 0.0

    def __enter__(self) -> Clock:
        _wait()
        self._begun = time.perf_counter()
        if self.profile is not None:
            self.profile.start()
        return self

    def __exit__(self, *_: Any) -> None:
        _wait()
        self.seconds = time.perf_counter() - self._begun
        if self.profile is not None:
            self.profile.stop()


class Profile:
    """Seconds in functions of this package and what they call, from looks at the main thread."""

    def __init__(self, every: float = 0.05) -> None:
        self.every, self.seconds = every, Counter[str]()
        self._main, self._ended = threading.get_ident(), threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._ended.set()
        self._thread.join()
        for name, seconds in self.seconds.most_common(90):
            print(f"{seconds:8.1f} s  {name}", flush=True)

    def _look(self) -> None:
        before = time.perf_counter()
        while not self._ended.wait(self.every):
            now = time.perf_counter()
            frame, seen = sys._current_frames().get(self._main), set()
            while frame is not None:
                code = frame.f_code
                if "graftwork" in code.co_filename:
                    seen.add(f"{code.co_filename.split('graftwork/')[-1]}: {code.co_qualname}")
                frame = frame.f_back
            self.seconds.update(dict.fromkeys(seen, now - before))
            before = now


def _wait() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def planted(n: int, strength: float = 0.7, seed: int = 0, states: int = STATES) -> Potentials:
    """Return a scale-free network of variables of as many states; tables of hubs are weaker."""
    rng = np.random.default_rng(seed)
    graph = nx.barabasi_albert_graph(n, 2, seed=seed + 1)
    edges = np.array(sorted(tuple(sorted(e)) for e in graph.edges))
    layout = Layout.of([states] * n, edges)
    degree = np.bincount(edges.ravel(), minlength=n)
    tables = rng.normal(0, strength, (len(edges), states, states))
    tables -= tables.mean(1, keepdims=True)
    tables -= tables.mean(2, keepdims=True)
    most = degree[edges].max(axis=1)
    tables /= np.sqrt(np.maximum(most / 10, 1))[:, None, None]
    unary = rng.normal(0, 0.3, n * states)
    return Potentials(layout, np.concatenate([unary, tables.ravel()]))


def drawn(potentials: Potentials, rows: int, sweeps: int, device: Any) -> Table:
    """Return rows by Gibbs sampling, a chain each."""
    rng = np.random.default_rng(1)
    given = {"burn_in": sweeps - 1, "thin": 1, "n_chains": rows}
    array = gibbs_sample_on(device.type, potentials, rows, rng, **given)
    names = tuple(f"v{i}" for i in range(len(array)))
    listed = tuple(tuple(range(count)) for count in potentials.layout.cards.tolist())
    return Table.trusted(names, listed, array, None, None)


def edges_of(network: gw.MarkovNetwork) -> set[tuple[Any, ...]]:
    return {tuple(sorted(edge)) for edge in network.model_.edges}


def same(count: int, device: Any, notes: Notes) -> None:
    """Fit small problems on both, and compare."""
    for k in range(count):
        n, rows = 20 + 5 * (k % 4), 3000 * (1 + k % 3)
        potentials = planted(n, seed=k)
        table = drawn(potentials, rows, 60, device)
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


def quality(network: gw.MarkovNetwork, potentials: Potentials) -> dict[str, Any]:
    """Return edges, precision and recall, the certificate, and the device's largest memory."""
    pairs = potentials.layout.edges.tolist()
    truth = {tuple(sorted((f"v{i}", f"v{j}"))) for i, j in pairs}
    edges = edges_of(network)
    hits = len(edges & truth)
    peak = torch.cuda.max_memory_allocated() / 2**30 if torch.cuda.is_available() else 0.0
    precision, recall = hits / max(1, len(edges)), hits / len(truth)
    return {
        "edges": len(edges), "true": len(truth), "precision": precision, "recall": recall,
        "f1": 2 * precision * recall / max(1e-300, precision + recall),
        "converged": network.certificate_.converged, "stop": network.certificate_.stop,
        "peak_gib": peak,
    }  # fmt: skip


def beside(n: int, rows: int, given: argparse.Namespace, device: Any, notes: Notes) -> None:
    """Time goal="structure" on the device and on two cores, after a small fit of each."""
    small = drawn(planted(30), 2000, given.sweeps, device)
    potentials = planted(n)
    table = drawn(potentials, rows, given.sweeps, device)
    for where, jobs in (("cuda", None), ("cpu", 2)):
        gw.MarkovNetwork(device=where, n_jobs=jobs).fit(small)
        for turn in range(2 if where == "cuda" else 1):  # the first compiles for these sizes
            with Clock(given.profile and turn == 1) as clock:
                network = gw.MarkovNetwork(device=where, n_jobs=jobs).fit(table)
            notes.add(
                step="structure", on=where, turn=turn, n=n, rows=rows, seconds=clock.seconds,
                **quality(network, potentials),
            )  # fmt: skip


def binary(n: int, rows: int, given: argparse.Namespace, device: Any, notes: Notes) -> None:
    """Learn a network of very many binary variables at a given lambda."""
    with Clock() as clock:
        potentials = planted(n, states=2)
        table = drawn(potentials, rows, given.sweeps, device)
    notes.add(step="draw", n=n, rows=rows, seconds=clock.seconds)
    options = {"lam": given.binary_lam, "max_seconds": given.most, "verbose": 1}
    with Clock(given.profile) as clock:
        network = gw.MarkovNetwork(device="cuda", random_state=0, **options).fit(table)
    notes.add(
        step="fit", n=n, rows=rows, pairs=n * (n - 1) // 2, lam=given.binary_lam,
        seconds=clock.seconds, **quality(network, potentials),
    )  # fmt: skip


def sized(n: int, rows: int, given: argparse.Namespace, device: Any, notes: Notes) -> None:
    """Time the steps of one size."""
    steps = given.steps.split(",")
    about = {"n": n, "rows": rows}
    with Clock() as clock:
        potentials = planted(n)
        table = drawn(potentials, rows, given.sweeps, device)
    notes.add(step="draw", **about, seconds=clock.seconds)
    if torch.cuda.is_available():
        torch.cuda.reset_peak_memory_stats()
    if "kernels" in steps:
        floors(potentials, table, device, notes)
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
                    found = tile.scored_above(roots, False, given.lam)[2]
                    largest, count = max(largest, float(found.max(initial=0.0))), count + 1
            rate = 2 * (n * (STATES - 1)) ** 2 * rows / clock.seconds / 1e12
            notes.add(step=name, **about, seconds=clock.seconds, tiles=count, tflops=rate)
        listed = np.random.default_rng(0).integers(0, n, (20000, 2))
        listed = np.unique(np.sort(listed[listed[:, 0] != listed[:, 1]], axis=1), axis=0)
        with Clock(given.profile) as clock:
            point.pair_gradients(listed)
        notes.add(step="listed pairs", **about, seconds=clock.seconds, pairs=len(listed))
    chosen = [
        (step, options)
        for step, options in (("fit", {"lam": given.lam}), ("structure", {}))
        if step in steps
    ]
    if chosen:  # kernels are compiled once
        small = drawn(planted(30), 2000, given.sweeps, device)
        with Clock() as clock:
            gw.MarkovNetwork(device="cuda").fit(small)
        notes.add(step="small fit, compiling included", n=30, rows=2000, seconds=clock.seconds)
    for step, options in chosen:
        with Clock(given.profile) as clock:
            network = gw.MarkovNetwork(
                device="cuda", verbose=1, max_seconds=given.most, **options
            ).fit(table)
        notes.add(step=step, **about, seconds=clock.seconds, **quality(network, potentials))


def floors(potentials: Potentials, table: Table, device: Any, notes: Notes) -> None:
    """Time the kernels beside what their bytes and their products take at least."""
    layout, n, rows = potentials.layout, table.n_variables, table.n_rows
    there = tensor(table.codes, device)
    held = DeviceRows(table.codes, None, device, there)
    degrees = np.bincount(layout.edges.ravel(), minlength=n)
    hubs = np.argsort(-degrees, kind="stable")[: max(1, n // 10)]
    network = DeviceNetwork.of(potentials, hubs, device, torch.float64)
    halves, width = network.halves, network.width
    whole = [
        torch.zeros(shape, dtype=torch.int64, device=device)
        for shape in ((len(hubs), width), (len(hubs), width), (len(halves.others), width, width))
    ]
    nothing = kernels.Targets(
        np.zeros(len(hubs) + 1, dtype=np.int64), halves.others[:0], width, device
    )
    listed = kernels.Targets(halves.starts, halves.others, width, device)
    chunk, everyone = Chunk(there[:, : 2**16], None), slice(0, len(hubs))
    few = np.flatnonzero((degrees > 0) & (degrees <= 5))
    both = [
        [b if a == i else a for a, b in layout.edges.tolist() if i in (a, b)] for i in few[:200]
    ]
    wanted = [(int(i), np.array(own)) for i, own in zip(few, both, strict=False)]
    cards, some = layout.cards, chunk.codes.shape[1]
    lines = Lines.of(cards - 1, np.arange(n), device)
    plain = DeviceNetwork.of(potentials, np.arange(n), device)
    ones = lines.indicators(chunk.codes, torch.int8)
    left = kernels.residuals(plain, lines, chunk, 0)
    own_reads = some * len(halves.others)
    written = some * len(hubs) * 4 * width
    groups = sum(-(-int(d) // listed.together) for d in degrees[hubs])
    moments = torch.randn(3000, 2, 10, 2**14, device=device)
    ends = torch.randint(0, 3000, (2, 20_000), device=device)
    sums = torch.zeros(20_000, 10, 10, dtype=torch.float64, device=device)
    jobs = {
        "states of all variables": (lambda: counting.count_states(held, table), n * rows, 0),
        "configurations of 200": (
            lambda: counting.count_configurations(held, cards, wanted, 2**14),
            rows * sum(map(len, both)), 0,
        ),
        "conditionals as whole numbers": (
            lambda: kernels.sum_by_codes(network, chunk, everyone, nothing, whole),
            own_reads + written, 0,
        ),
        "and their sums by codes": (
            lambda: kernels.sum_by_codes(network, chunk, everyone, listed, whole),
            2 * own_reads + written + some * groups * 4 * width,
            2 * some * groups * 4 * width * listed.together * width,
        ),
        "residuals": (
            lambda: kernels.residuals(plain, lines, chunk, 0),
            some * (2 * layout.n_edges + n + lines.count), 0,
        ),
        "indicators": (
            lambda: lines.indicators(chunk.codes, torch.int8), some * (n + lines.count), 0,
        ),
        "variances of 20,000 pairs in 16,384 rows": (
            lambda: kernels.add_products(moments, moments, ends[0], ends[1], sums),
            20_000 * 2**14 * 4 * 40, 0,
        ),
        "all pairs (bytes)": (
            lambda: product(left, ones), some * 2 * lines.count + 4 * lines.count**2,
            some * lines.count**2,  # bytes are multiplied twice as fast as 16 bits
        ),
    }  # fmt: skip
    for name, (run, n_bytes, products) in jobs.items():
        run()
        with Clock() as clock:
            for _ in range(3):
                run()
        seconds, least = clock.seconds / 3, max(n_bytes / BYTES_S, products / FLOPS)
        notes.add(kernel=name, n=n, rows=rows, seconds=seconds, floor=least, ratio=seconds / least)


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Return the arguments."""
    parser = parser_of(__doc__ or "")
    parser.add_argument("--same", type=int, default=0, metavar="K", help="problems to fit on both")
    parser.add_argument(
        "--size", type=int, nargs=2, action="append", default=[], metavar=("N", "ROWS")
    )
    parser.add_argument("--beside", type=int, nargs=2, default=None, metavar=("N", "ROWS"))
    parser.add_argument("--binary", type=int, nargs=2, default=None, metavar=("N", "ROWS"))
    parser.add_argument("--binary-lam", type=float, default=0.035)
    parser.add_argument("--steps", default=",".join(STEPS))
    parser.add_argument("--lam", type=float, default=0.006)
    parser.add_argument("--most", type=float, metavar="SECONDS", help="limit of each fit")
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
    if given.beside:
        beside(*given.beside, given, device, notes)
    if given.binary:
        binary(*given.binary, given, device, notes)
    for n, rows in given.size:
        sized(n, rows, given, device, notes)


if __name__ == "__main__":
    main()
