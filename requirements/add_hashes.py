"""Write a lock file again with the hashes of all files that the package index has of each version.

    python requirements/add_hashes.py requirements/dev.lock requirements/dev.hashes

Run it after each change of the lock file. Hashes are those of wheels and source archives for all
systems, so that `pip install --require-hashes` works on each, and installs nothing but what the
index had when the file was written.
"""

from __future__ import annotations

import re
import sys
import urllib.request
from pathlib import Path

INDEX = "https://pypi.org/simple"
LINK = re.compile(r'href="[^"]*/([^"/#]+)#sha256=([0-9a-f]{64})"')


def hashes(name: str, version: str) -> list[str]:
    """Return the hashes of the files of a version, sorted."""
    canonical = re.sub(r"[-_.]+", "-", name).lower()
    with urllib.request.urlopen(f"{INDEX}/{canonical}/") as answer:
        page = answer.read().decode()
    stem = re.sub(r"[-_.]+", "[-_.]+", re.escape(canonical).replace(r"\-", "-"))
    file = re.compile(rf"{stem}-{re.escape(version)}(-.*\.whl|\.tar\.gz|\.zip)", re.IGNORECASE)
    found = sorted({digest for path, digest in LINK.findall(page) if file.fullmatch(path)})
    if not found:
        raise SystemExit(f"{name}=={version}: the index has no files of it")
    return found


def with_hashes(text: str) -> str:
    """Return a lock file with hashes after each version."""
    lines = []
    for plain in text.splitlines():
        pin = re.match(r"([\w.-]+)==([\w.+!-]+)", plain)
        if pin is None:
            lines.append(plain)
            continue
        listed = [f"    --hash=sha256:{digest}" for digest in hashes(*pin.groups())]
        lines.append(" \\\n".join([plain, *listed]))
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write the second file from the first."""
    source, target = map(Path, sys.argv[1:])
    target.write_text(with_hashes(source.read_text()))


if __name__ == "__main__":
    main()
