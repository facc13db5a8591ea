"""
Rows that do not fit into memory
================================

Rows in several Parquet files are read in parts, packed on the disk with a few bits a cell, and
learned from there. This needs ``pip install "graftwork[parquet]"``.

**Lesson.** The network is the same as that of the same rows in memory, and packed rows take little
room: the disk limits how many there can be, not the memory.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import pyarrow as pa
import pyarrow.parquet as pq

import graftwork as gw

# %%
# Twelve months of rows, drawn from a network with 12 variables and written to a folder. Real files
# would be there already, and could be larger than memory.

truth = gw.datasets.scale_free_network(12, 4, centred=True, random_state=3)
work = tempfile.TemporaryDirectory()
folder = Path(work.name) / "rows"
folder.mkdir()
for month in range(12):
    rows = truth.sample(25_000, random_state=month)
    pq.write_table(pa.table(rows.to_dict()), folder / f"month{month + 1:02d}.parquet")
written = sum(path.stat().st_size for path in folder.iterdir())

# %%
# ``scan`` says what to read, and ``memory`` roughly how much memory to use. ``store`` reads the
# rows once and packs them.

stored = gw.scan(folder, memory="500MB", part_rows=32_768).store()
print(stored)
part = stored.part(0)  # an ordinary table in memory
print(part)

# %%
# Learn from the packed rows, and from the same rows in memory.

net = gw.MarkovNetwork(random_state=0).fit(stored)
in_memory = gw.as_table(pq.read_table(folder).to_pandas())
same = gw.MarkovNetwork(random_state=0).fit(in_memory)
print(gw.compare_edges(net, truth))
print("the same edges:", sorted(net.model_.edges) == sorted(same.model_.edges))
net.plot()

# %%
# Where are the bytes?

sizes = {
    "Parquet files": written,
    "packed on the disk": sum(path.stat().st_size for path in stored.paths.rglob("*.*")),
    "all rows as a pandas frame": int(pq.read_table(folder).to_pandas().memory_usage().sum()),
    "one part in memory": part.codes.nbytes,
}
figure, ax = plt.subplots(figsize=(6.5, 2.6), layout="constrained")
ax.barh(list(sizes), [size / 1e6 for size in sizes.values()], color="#0072b2")
ax.invert_yaxis()
ax.set_xlabel("MB")

# %%
# Learners also take files directly: ``fit("rows/*.parquet")`` does all of this. On the command
# line it is ``graftwork learn 'rows/*.parquet' --memory 2GB``. The page on
# :doc:`rows that do not fit into memory </scanning>` has the details.

stored.close()
work.cleanup()
