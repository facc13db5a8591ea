"""Fits on a Dask cluster whose workers are killed: the network is that of the rows in memory."""

import os
import signal
import threading

import numpy as np
import pytest

from doors.data import DaskEngine
from support.networks_in_parts import (
    assert_same_network,
    in_memory,
    network_of,
    scan_of,
    write_files,
)

distributed = pytest.importorskip("distributed", reason="needs Dask: graftwork[dask]")
pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals")


class Hunted(DaskEngine):
    """A cluster of which a worker is killed soon after certain sums were asked for."""

    def __init__(self, client, moments, rng):
        super().__init__(client)
        self.kills, self._asked = [], 0
        self._moments, self._rng = set(moments), rng

    def total(self, *asked, **more):
        self._asked += 1
        if self._asked in self._moments:
            threading.Timer(self._rng.random() * 0.05, self._kill).start()
        return super().total(*asked, **more)

    def _kill(self):
        nannies = [one for one in self._client.cluster.workers.values() if one.pid]
        if nannies:
            victim = self._rng.choice(nannies).pid
            os.kill(victim, signal.SIGKILL)
            self.kills.append(victim)


@pytest.mark.parametrize(
    ("name", "kills", "seed"),
    [
        ("complete", 2, 0),
        *(pytest.param("complete", 10, seed, marks=pytest.mark.slow) for seed in range(1, 4)),
        pytest.param("available-case", 10, 4, marks=pytest.mark.slow),
        pytest.param("many-configurations", 10, 5, marks=pytest.mark.slow),
    ],
)
def test_networks_survive_killed_workers(name, kills, seed, tmp_path):
    folder, rng = write_files(name, tmp_path), np.random.default_rng(seed)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs="CRITICAL"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        quiet = Hunted(client, [], rng)
        network_of(name).fit(scan_of(name, folder, engine=quiet))
        assert quiet._asked >= kills
        moments = rng.choice(np.arange(1, quiet._asked + 1), kills, replace=False)
        engine = Hunted(client, moments.tolist(), rng)
        net = network_of(name).fit(scan_of(name, folder, engine=engine))
    assert len(engine.kills) >= kills - 1  # the last may come too late
    assert_same_network(in_memory(name), net)
