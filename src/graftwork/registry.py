"""Parts by name: each is found because its file lies in the room's folder, no list is kept.

A file marks what it offers with ``@register("name")``. Names are read from the text of the files,
not by importing them, so that the command line can list them without loading a compiler.
"""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Generic, TypeVar

T = TypeVar("T")
_MARK = "register"


def register(name: str, **traits: Any) -> Callable[[T], T]:
    """Mark a class or function as what makes the part of this name.

    Parameters
    ----------
    name : str
        What users write; a literal.
    **traits
        What else is to be known before the file is imported; literals.

    Examples
    --------
    >>> @register("my-part", chains=True)
    ... def my_part(count=1):
    ...     return count
    >>> my_part()
    1
    """
    return lambda factory: factory


@dataclass(frozen=True, slots=True)
class Entry:
    """A registered part, as far as its file's text tells.

    Attributes
    ----------
    name : str
    module, attribute : str
        Where its factory is.
    help : str
        The first line of the factory's docstring.
    traits : dict
        The other arguments of ``register``.
    """

    name: str
    module: str
    attribute: str
    help: str
    traits: Mapping[str, Any]


class Registry(Mapping[str, Callable[..., T]], Generic[T]):
    """The parts of a package: factories by name, in alphabetical order.

    Parameters
    ----------
    package : str
        Its modules are looked through; folders appended to its ``__path__`` count, too.

    Examples
    --------
    >>> methods = Registry("graftwork.recipes")
    >>> "grafting-light" in methods, methods.entry("full").help
    (True, 'Return the batch learner: OWL-QN over all tables (proximal steps for a group penalty).')
    >>> methods["full"]().name
    'full'
    """

    def __init__(self, package: str) -> None:
        self._package = package

    def __getitem__(self, name: str) -> Callable[..., T]:
        entry = self._entries()[name]
        factory: Callable[..., T] = getattr(importlib.import_module(entry.module), entry.attribute)
        return factory

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries())

    def __len__(self) -> int:
        return len(self._entries())

    def __contains__(self, name: object) -> bool:
        return name in self._entries()

    def entry(self, name: str) -> Entry:
        """Return what is known of a part without importing its file."""
        return self._entries()[name]

    def having(self, trait: str, value: Any = True) -> tuple[str, ...]:
        """Return the names of the parts whose trait is, or contains, this value.

        Examples
        --------
        >>> Registry("graftwork.recipes").having("chains")
        ('full', 'gain', 'gauss-seidel', 'grafting', 'grafting-light')
        """
        found = {name: entry.traits.get(trait) for name, entry in self._entries().items()}
        return tuple(
            name
            for name, given in found.items()
            if given == value or (isinstance(given, tuple) and value in given)
        )

    def _entries(self) -> Mapping[str, Entry]:
        return _scan(self._package, _folders(self._package))


def _folders(package: str) -> tuple[str, ...]:
    """Return where a package's modules lie, without importing it."""
    if package in sys.modules:
        return tuple(sys.modules[package].__path__)
    root, *inner = package.split(".")
    return tuple(str(Path(folder, *inner)) for folder in sys.modules[root].__path__)


@lru_cache(maxsize=16)
def _scan(package: str, folders: tuple[str, ...]) -> Mapping[str, Entry]:
    """Return the parts that the files in some folders register."""
    files = [file for folder in folders for file in sorted(Path(folder).glob("*.py"))]
    found: dict[str, Entry] = {}
    for file in files:
        text = file.read_text(encoding="utf-8")
        if f"@{_MARK}(" not in text:  # parsing takes longer than reading
            continue
        for entry in _registered(ast.parse(text), f"{package}.{file.stem}"):
            if entry.name in found:
                raise ValueError(
                    f"{entry.name!r} is registered in {found[entry.name].module} and {entry.module}"
                )
            found[entry.name] = entry
    return dict(sorted(found.items()))


def _registered(tree: ast.Module, module: str) -> Iterator[Entry]:
    """Yield what a module registers."""
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef | ast.ClassDef):
            continue
        summary = (ast.get_docstring(node) or "").partition("\n")[0]
        for mark in node.decorator_list:
            if isinstance(mark, ast.Call) and getattr(mark.func, "id", None) == _MARK:
                name = ast.literal_eval(mark.args[0])
                traits = {str(key.arg): ast.literal_eval(key.value) for key in mark.keywords}
                yield Entry(name, module, node.name, summary, traits)
