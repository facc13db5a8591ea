"""--preset: the settings of a paper in place of the defaults of other options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from graftwork.estimators.presets import PRESETS, preset, settings_of
from graftwork.parameters import LEARNING, joined

#: The key of settings that still need the number of variables; see `completed`.
KEY = "preset"


def set_defaults(context: typer.Context, name: str | None) -> str | None:
    """Make a preset's settings the defaults of the command's other options; return its name.

    The options of its method are not among them: `with_method_options` adds these.
    """
    if name is not None:
        context.default_map = default_options(name)
    return name


def default_options(name: str) -> dict[str, Any]:
    """Return the values of options, except those of the method, that a preset stands for.

    Examples
    --------
    >>> default_options("forced-pruning-paper")
    {'method': 'forced-pruning', 'penalize_unary': False}
    """
    found = settings_of(name)
    found.pop("method_options", None)
    found |= found.pop("penalty_options", {})
    lam = found.pop("lam", None)
    if lam is not None:
        found["lam"] = str(lam)
    return {**found, "penalize_unary": found.pop("unary", False)}


def with_method_options(
    settings: Mapping[str, Any], name: str, n_variables: int | None = None
) -> dict[str, Any]:
    """Return settings with a preset's options of its method, where that is the one they name.

    Examples
    --------
    >>> given = {"method": "best-choice", "lam": 0.1, "method_options": {"alpha": 1.0}}
    >>> with_method_options(given, "best-choice-paper", 100)["method_options"]
    {'tests': 10, 'alpha': 1.0}
    """
    lam = settings.get("lam", "auto")
    own = preset(name, n_variables, lam=None if lam == "auto" else lam)
    if own["method"] != settings["method"] or "method_options" not in own:
        return dict(settings)
    return joined({"method_options": own["method_options"]}, settings)


def completed(settings: Mapping[str, Any], n_variables: int) -> dict[str, Any]:
    """Return settings with those of their preset that depend on the number of variables."""
    found = dict(settings)
    name = found.pop(KEY, None)
    return found if name is None else with_method_options(found, name, n_variables)


_ASKING = [name for name in PRESETS if settings_of(name).get("lam", 0) is None]
Preset = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help=f"Do as a paper did: {', '.join(PRESETS)}. Its settings take the place of the "
        "defaults of other options; an option that is given overrides the preset's. "
        f"{' and '.join(_ASKING)} need --lam.",
        callback=set_defaults,
        is_eager=True,
        rich_help_panel=LEARNING,
    ),
]
