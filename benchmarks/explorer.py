"""The explorer in a browser: seconds until it can be used, frames a second while it is moved.

Run: python benchmarks/explorer.py. It needs Chromium (make browser). With --screens FOLDER it also
writes the pictures of docs/explorer.md.
"""

from __future__ import annotations

import argparse
import io
import os
import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from arguments import parser_of

import graftwork as gw
from graftwork.inference.layout import Layout, Potentials

SCALES = ("worry", "sleep", "energy", "focus", "company")
FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--hide-scrollbars",
)  # fmt: skip


def planted(n: int, n_edges: int, seed: int = 0) -> gw.PairwiseMRF:
    """Return a network of binary and ternary variables in twelve groups, with hubs."""
    rng = np.random.default_rng(seed)
    group, wanted = rng.integers(0, 12, n), rng.pareto(2.5, n) + 0.3
    share, edges = wanted / wanted.sum(), set()
    while len(edges) < n_edges:
        for i, j in rng.choice(n, (n_edges, 2), p=share).tolist():
            inside = group[i] == group[j] or rng.random() < 0.02
            if i != j and inside and len(edges) < n_edges:
                edges.add((min(i, j), max(i, j)))
    cards = rng.integers(2, 4, n)
    layout = Layout.of(cards, sorted(edges))
    potentials = Potentials(layout, rng.normal(0.0, 0.25, layout.size))
    states = [["low", "high"] if c == 2 else ["low", "middle", "high"] for c in cards]
    return gw.PairwiseMRF.from_flat([f"item {i:04d}" for i in range(n)], states, potentials)


def questionnaire(seed: int = 0) -> gw.MarkovNetwork:
    """Return the network learned from made answers to 60 items of five scales."""
    rng = np.random.default_rng(seed)
    names = [f"{scale} {k + 1}" for scale in SCALES for k in range(12)]
    pairs: dict[tuple[str, str], Any] = {}
    for j in range(1, 60):
        near = [i for i in range(j) if i // 12 == j // 12] or [12 * (j // 12) - 12]
        for i in rng.choice(near, min(len(near), 2), replace=False).tolist():
            w = float(rng.uniform(0.35, 0.7)) * (-1.0 if rng.random() < 0.15 else 1.0)
            pairs[names[i], names[j]] = [[w, -w], [-w, w]]
    model = gw.PairwiseMRF({name: ["no", "yes"] for name in names}, None, pairs)
    rows = model.sample(2500, random_state=seed)
    net = gw.MarkovNetwork(random_state=0).fit(rows)
    net.predictability(rows)
    return net


def browser(width: int, height: int, *, dark: bool = False) -> Any:
    """Return a driver of Chromium whose window has this size."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    found = shutil.which("chromium"), shutil.which("chromedriver")
    if None in found:
        raise SystemExit("Chromium or chromedriver is not there; make browser installs them.")
    os.environ["SE_OFFLINE"] = "true"
    options = webdriver.ChromeOptions()
    options.binary_location = str(found[0])
    for flag in (*FLAGS, f"--user-data-dir={tempfile.mkdtemp()}"):
        options.add_argument(flag)
    driver = webdriver.Chrome(options=options, service=Service(str(found[1])))
    screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
    return driver


def wait(driver: Any, code: str) -> Any:
    """Return the value of an expression of JavaScript once it is true."""
    while not (found := driver.execute_script(f"return {code}")):
        time.sleep(0.02)
    return found


READY = "performance.getEntriesByName('graftwork-ready')[0]?.startTime"
COUNT = """
window.frames_ = []; let last = performance.now();
(function tick() {
  const now = performance.now(); frames_.push(now - last); last = now;
  if (!window.enough) requestAnimationFrame(tick);
})();
"""


def open_page(path: Path, repeats: int) -> list[float]:
    """Return the seconds until the page is painted and takes input, each in a fresh browser."""
    seconds = []
    for _ in range(repeats):
        driver = browser(1400, 900)
        driver.get(path.as_uri())
        seconds.append(wait(driver, READY) / 1000)
        driver.quit()
    return seconds


def pan(path: Path, seconds: float) -> list[float]:
    """Return the milliseconds of each frame while the picture is dragged."""
    driver = browser(1400, 900)
    driver.get(path.as_uri())
    wait(driver, READY)
    wait(driver, "document.querySelector('.badge').dataset.waiting === 'false'")

    def mouse(kind: str, x: float, y: float) -> None:
        given = {"type": kind, "x": x, "y": y, "button": "left", "buttons": 1}
        driver.execute_cdp_cmd("Input.dispatchMouseEvent", given)

    mouse("mousePressed", 150, 450)
    mouse("mouseMoved", 160, 450)
    driver.execute_script(COUNT)
    end, step = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        step += 1
        there_and_back = abs((7 * step) % 1300 - 650)
        mouse("mouseMoved", 160 + there_and_back, 450 - 0.3 * there_and_back)
    frames: list[float] = driver.execute_script("window.enough = true; return frames_")
    mouse("mouseReleased", 160, 450)
    driver.quit()
    return frames[1:]


def shoot(path: Path, link: str, out: Path, size: tuple[int, int], *, dark: bool = False) -> None:
    """Write what the browser shows, in few colours: small files, and flat colours anyway."""
    from PIL import Image

    driver = browser(*size, dark=dark)
    driver.get(f"{path.as_uri()}#{link}")
    wait(driver, READY)
    wait(driver, "document.querySelector('.badge').dataset.waiting === 'false'")
    time.sleep(1.0)
    image = Image.open(io.BytesIO(driver.get_screenshot_as_png())).convert("RGB")
    few = image.quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    few.save(out, optimize=True)
    driver.quit()


def screens(large: Path, folder: Path, work: Path) -> None:
    """Write the pictures of the documentation: 8, 60 and 2,000 variables."""
    folder.mkdir(parents=True, exist_ok=True)
    table = gw.datasets.load_boredom()
    items = table.take_columns(name for name in table.names if name != "language")
    small = gw.MarkovNetwork(ordinal=True, random_state=0).fit(items)
    eight = small.explore(work / "8.html", title="Boredom, eight items")
    ends = [0] * 6 + [1]
    evidence = f"{small.model_.names.index('repetitive')}:{','.join(map(str, ends))}"
    wide = (1280, 800)
    shoot(eight, f"if={evidence}&tab=whatif", folder / "8-what-if.png", wide)
    pair = [set(edge) for edge in small.model_.edges].index({"repetitive", "motivated"})
    shoot(eight, f"e={pair}", folder / "8-pair.png", wide)
    middle = questionnaire()
    sixty = middle.explore(work / "60.html", title="Sixty items (made data)")
    shoot(sixty, "", folder / "60.png", wide)
    best = int(np.argmax(middle.centrality()["degree"]))
    shoot(sixty, f"v={best}", folder / "60-dark.png", wide, dark=True)
    shoot(sixty, "tab=edges", folder / "60-narrow.png", (420, 800))
    shoot(large, "", folder / "2000.png", wide)


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = parser_of(__doc__)
    parser.add_argument("--variables", type=int, default=2000)
    parser.add_argument("--edges", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=5, help="how often the page is opened")
    parser.add_argument("--seconds", type=float, default=5.0, help="how long it is dragged")
    parser.add_argument("--screens", type=Path, metavar="FOLDER", help="write pictures there")
    return parser.parse_args(arguments)


def main(chosen: argparse.Namespace) -> None:
    """Print sizes and times."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        model = planted(chosen.variables, chosen.edges)
        began = time.perf_counter()
        title = f"{chosen.variables:,} variables (made data)"
        path = model.explore(work / "large.html", title=title)
        seconds, size = time.perf_counter() - began, path.stat().st_size / 1e6
        print(f"{model}: written in {seconds:.1f} s, {size:.2f} MB", flush=True)
        if chosen.repeats:
            times = open_page(path, chosen.repeats)
            print(
                f"painted and ready after {statistics.median(times):.2f} s (median of "
                f"{len(times)}), at most {max(times):.2f} s",
                flush=True,
            )
        if chosen.seconds:
            frames = pan(path, chosen.seconds)
            rate, late = 1000 * len(frames) / sum(frames), np.quantile(frames, 0.95)
            print(f"{rate:.0f} frames a second while dragged; 95 % within {late:.0f} ms")
        if chosen.screens:
            screens(path, chosen.screens, work)


if __name__ == "__main__":
    main(parse())
