"""Gibbs updates and evidence sets per second on a graphics card.

python benchmarks/device_drawing.py                     # an NVIDIA card, PyTorch, Triton
python benchmarks/device_drawing.py --device cpu --small   # whether it runs at all
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from arguments import parser_of

from graftwork.datasets.networks import scale_free_network
from graftwork.inference.device import drawing
from graftwork.inference.device.propagation import propagate_sets
from graftwork.inference.device.torch_ import import_torch, open_device
from graftwork.inference.evidence import observe
from graftwork.inference.loopy import LoopyBP
from graftwork.inference.sampling import gibbs_sample


def wait(place):
    if place.type == "cuda":
        import_torch().cuda.synchronize()


def gibbs(place, n, chains, sweeps):
    """Print updates per second of whole sweeps, and of rows that are copied back."""
    torch, rng = import_torch(), np.random.default_rng(0)
    model = scale_free_network(n, 5, edge_sd=0.7, centred=True, random_state=0)
    began = time.perf_counter()
    network = drawing.place_network(model.potentials, rng, place)
    took = time.perf_counter() - began
    x = torch.randint(0, 5, (n, chains), dtype=torch.uint8, device=place)
    update = drawing.update_triton if place.type == "cuda" else drawing.update_plain
    drawing.run_sweep(network, x, 0, update)  # compiles
    wait(place)
    began = time.perf_counter()
    for sweep in range(sweeps):
        drawing.run_sweep(network, x, sweep + 1, update)
    wait(place)
    seconds = time.perf_counter() - began
    print(
        f"n={n:,}, {chains:,} chains, {len(network.classes)} colours (ready in {took:.1f} s): "
        f"{sweeps} sweeps in {seconds:.2f} s, {sweeps * n * chains / seconds / 1e9:.2f} billion "
        "updates/s",
        flush=True,
    )
    rows = 2 * chains
    began = time.perf_counter()
    drawing.gibbs_sample_on(place.type, model.potentials, rows, rng, 20, 2, chains)
    seconds = time.perf_counter() - began
    print(f"  {rows:,} rows with 20 sweeps of burn-in, on the host: {seconds:.2f} s", flush=True)
    few, length = 64, 20
    gibbs_sample(model.potentials, few, rng, 1, 1, few, -1)  # compiles
    began = time.perf_counter()
    gibbs_sample(model.potentials, few, rng, length, 1, few, -1)
    seconds = time.perf_counter() - began
    rate = (length + 1) * n * few / seconds / 1e6
    print(f"  processor, all cores, 64 chains: {rate:.1f} million updates/s", flush=True)


def propagation(place, n, sets, share, alone):
    """Print evidence sets per second, all at once and one by one on the processor."""
    rng = np.random.default_rng(1)
    model = scale_free_network(n, 5, edge_sd=0.5, centred=True, random_state=0)
    codes = rng.integers(0, 5, size=(n, sets))
    codes[rng.random(codes.shape) >= share] = -1
    propagate_sets(model.potentials, codes[:, :16], place.type)  # compiles
    began = time.perf_counter()
    found = propagate_sets(model.potentials, codes, place.type)
    seconds = time.perf_counter() - began
    print(
        f"n={n:,}, {sets:,} sets, {share:.0%} observed: {seconds:.2f} s, {sets / seconds:,.0f} "
        f"sets/s, {found.sweeps.mean():.1f} sweeps, {(found.residual > 1e-9).sum()} not settled",
        flush=True,
    )
    began, worst = None, 0.0
    for r in range(alone + 1):
        reduced = observe(model.potentials, np.ascontiguousarray(codes[:, r]))
        beliefs = LoopyBP().infer(reduced.potentials)
        total = reduced.constant + beliefs.log_partition
        worst = max(worst, abs(total - found.log_partition[r]))
        if began is None:  # the first one compiles
            began = time.perf_counter()
    rate = alone / (time.perf_counter() - began)
    print(
        f"  processor, one by one: {rate:,.0f} sets/s; largest difference of log Z {worst:.1e}",
        flush=True,
    )


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Return the arguments."""
    parser = parser_of(__doc__ or "")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--small", action="store_true", help="sizes for any machine")
    return parser.parse_args(arguments)


def main():
    given = parse()
    place = open_device(given.device)
    if place.type == "cuda":
        print(import_torch().cuda.get_device_name(0), flush=True)
    if given.small:
        gibbs(place, 50, 64, 3)
        propagation(place, 20, 32, 0.5, 8)
        return
    gibbs(place, 1_000, 65_536, 200)
    gibbs(place, 1_000, 262_144, 100)
    gibbs(place, 10_000, 65_536, 50)
    propagation(place, 100, 65_536, 0.5, 200)
    propagation(place, 1_000, 8_192, 0.5, 100)
    propagation(place, 1_000, 8_192, 0.1, 50)


if __name__ == "__main__":
    main()
