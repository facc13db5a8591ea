"""The parameters of MarkovNetwork, as data: what each must be, what it means, how it is written.

One table makes the checks of the estimator, the options of the command line and the reference. It
imports nothing heavy, so that the command line's help is quick.
"""

from __future__ import annotations

import difflib
import math
import re
import textwrap
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal, Protocol, get_args

from graftwork.errors import ParameterError

#: No number may be larger: squares and products of two are numbers, too.
LARGEST = 1e100
#: Nothing is solved closer than this: sums over rows are no more accurate.
FINEST = 1e-15

Loss = Literal["pseudolikelihood", "likelihood"]
Goal = Literal["structure", "prediction"]
Shape = Literal["auto", "linear"]
MissingPolicy = Literal["error", "state", "drop-rows", "available-case", "impute"]
# Names of the parts that come with graftwork, for editors and type checkers. Each part has a file
# of its own, and one that is added there is found by name without being listed here.
MethodName = Literal[
    "auto", "best-choice", "working-set", "edge-grafting", "first-hit", "grafting", "gain",
    "mutual-information", "grafting-light", "gauss-seidel", "full", "priority", "chow-liu",
    "forced-pruning",
]  # fmt: skip
ChainMethod = Literal["grafting-light", "grafting", "gauss-seidel", "gain", "full"]
EngineName = Literal[
    "auto", "exact", "bp", "trw", "bp:rule=path", "bp:rule=product", "bp:rule=exact",
    "trw:rule=path", "trw:rule=product", "trw:rule=exact",
]  # fmt: skip
PenaltyName = Literal["group-l1", "l1", "elastic-net", "l2", "none"]
CriterionName = Literal[
    "tests", "hold-out", "k-fold", "ebic", "ebic-refit", "ebic-then-refit", "stars", "adaptive"
]

LEARNING, LIMITS, READING = "Learning", "Limits", "Reading the file"
KNOWLEDGE = "Prior knowledge (A~B, or a file with two names per line; repeat for more)"


class Check(Protocol):
    """What the value of a parameter must be."""

    def __call__(self, name: str, value: Any) -> Any:
        """Return the value as it is used, or refuse it with a ParameterError."""
        ...


@dataclass(frozen=True, slots=True)
class Choice:
    """One of some names.

    Examples
    --------
    >>> Choice(("likelihood", "pseudolikelihood"))("loss", "likelihood")
    'likelihood'
    """

    names: tuple[str, ...]

    def __call__(self, name: str, value: Any) -> str:
        """Return the name."""
        return known(name, value, self.names)


@dataclass(frozen=True, slots=True)
class Number:
    """A finite number of at least ``low`` (or above it, or below ``high``), perhaps whole.

    Examples
    --------
    >>> Number(above=0)("fdr", 0.05), Number(1, whole=True, optional=True)("tie", None)
    (0.05, None)
    """

    low: float = 0.0
    above: float | None = None
    below: float | None = None
    whole: bool = False
    optional: bool = False

    def __call__(self, name: str, value: Any) -> float | int | None:
        """Return the number."""
        if value is None and self.optional:
            return None
        low, above = (self.low, False) if self.above is None else (self.above, True)
        found = number(name, value, low, above=above, whole=self.whole, below=self.below)
        return int(found) if self.whole else found


_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_BINARY = {"KI": 1 << 10, "MI": 1 << 20, "GI": 1 << 30, "TI": 1 << 40}
_SIZE = re.compile(r"\s*([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*([KMGT]I?)?B?\s*", re.IGNORECASE)
_LEAST_MEMORY = 10**6


def memory_bytes(name: str, value: Any) -> int:
    """Return an amount of memory in bytes, given so or as text.

    Examples
    --------
    >>> [memory_bytes("memory", size) for size in ("2GB", "1.5 MiB", 10**8)]
    [2000000000, 1572864, 100000000]
    """
    size: float | None = None
    if isinstance(value, str):
        found = _SIZE.fullmatch(value)
        if found is not None:
            size = float(found[1]) * (_UNITS | _BINARY)[(found[2] or "").upper()]
    elif isinstance(value, int | float) and not isinstance(value, bool):
        size = value
    if size is None or not _LEAST_MEMORY <= size < 1e18:
        raise ParameterError(
            f"{name} is {value!r}, but it must be an amount of 1MB or more: '2GB', '500MB' or a "
            "number of bytes."
        )
    return int(size)


@dataclass(frozen=True, slots=True)
class Memory:
    """An amount of memory: bytes, or a text such as "2GB"."""

    def __call__(self, name: str, value: Any) -> int:
        """Return the bytes."""
        return memory_bytes(name, value)


@dataclass(frozen=True, slots=True)
class Options:
    """A dict of options, or None."""

    def __call__(self, name: str, value: Any) -> dict[str, Any]:
        """Return the options."""
        what = name.removesuffix("_options")
        if value is None:
            return {}
        if not isinstance(value, Mapping):
            raise ParameterError(f"{name} must be a dict of the {what}'s options, got {value!r}.")
        return dict(value)


@dataclass(frozen=True, slots=True)
class Anything:
    """A value that is checked where it is used."""

    def __call__(self, name: str, value: Any) -> Any:
        """Return the value."""
        return value


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter."""

    name: str
    default: Any
    check: Check  # what it must be
    type: str  # type, text: for the reference
    text: str
    # the parameter whose dict it is an option of; empty if it has an argument of its own
    within: str = ""
    help: str = ""  # for the command line; empty if it has no option there
    flags: tuple[str, ...] = ()  # names of the option; default the parameter's
    # metavar, panel: how the option's value and its group are called in the help
    metavar: str | None = None
    panel: str = LEARNING


_WHOLE = Number(0, whole=True, optional=True)
_FREE = Anything()

PARAMETERS: tuple[Parameter, ...] = (
    Parameter(
        "method", "auto", _FREE, "str or Recipe",
        """How edges are chosen: "auto" (default), "best-choice", "working-set" (the quickest to
        the optimum of hundreds of variables), "edge-grafting" (exhaustive), "first-hit",
        "grafting", "gain", "mutual-information", "grafting-light", "gauss-seidel", "full",
        "priority", "chow-liu" or "forced-pruning": see ``graftwork.recipes``. With exact inference
        (or the pseudo-likelihood) all but the last two end at the same network; they differ on the
        way there, which matters for time and when a budget stops them. "auto" is "full" with
        penalty="l2" or "none", unless edges, rounds or tests are limited, and "working-set" for
        the pseudo-likelihood of up to 500 variables (2,500 with prior knowledge, or where
        missing cells are left out or drawn) without limits other than on time;
        otherwise, or where one of its options is set, "best-choice"; ``method_`` tells which.
        "chow-liu" is the best tree, with weights fitted by the loss; "forced-pruning" looks for the
        best network with exactly ``max_edges`` edges (default: those it starts with) by exchanging
        edges.""",
        help="How edges are chosen: {methods}. NAME:OPTION=VALUE sets an option.",
        metavar="NAME",
    ),
    Parameter(
        "method_options", None, Options(), "dict, optional",
        """Options of the method, such as ``{"count": 10}`` for grafting-light, and of any run:""",
    ),
    Parameter(
        "start", None, _FREE, "optional",
        """The network to begin with: "chow-liu", a networkx.Graph or a list of pairs of names
        (weights are fitted first), a PairwiseMRF, or a fitted MarkovNetwork. A convex problem ends
        at the same optimum from anywhere. With fewer ``max_edges`` the strongest edges stay.
        Methods that look for their edges then need a number for ``lam``.""",
        within="method_options",
        help="The network to begin with: the best tree, a model file, or a table of edges.",
        metavar="chow-liu|FILE",
    ),
    Parameter(
        "max_tests", None, Number(1, whole=True, optional=True), "int, optional",
        "Scored pairs after which to stop.",
        within="method_options",
        help="Stop after N tests of pairs.", metavar="N", panel=LIMITS,
    ),
    Parameter(
        "max_evaluations", None, Number(1, whole=True, optional=True), "int, optional",
        """Evaluations of the loss after which to stop: a limit that does not depend on the machine.
        Needs a lam.""",
        within="method_options",
    ),
    Parameter(
        "max_iter", None, _WHOLE, "int, optional", "Rounds after which to stop.",
        within="method_options",
        help="Stop after N rounds.", metavar="N", panel=LIMITS,
    ),
    Parameter(
        "loss", "pseudolikelihood", Choice(get_args(Loss)),
        '{"pseudolikelihood", "likelihood"}',
        """The joint pseudo-likelihood needs no inference and is exact. The likelihood needs
        inference but no rows once the pairs are counted.""",
        help="The loss that is minimised.",
    ),
    Parameter(
        "inference", "auto", _FREE, '{"auto", "exact", "bp", "trw"} or Engine',
        """For the likelihood: exact while small and otherwise belief propagation, always exact
        (refused when too large), always belief propagation, or tree-reweighted belief propagation
        (an upper bound of the partition function). For two connected variables without an edge
        message passing chains conditionals along a path; ``LoopyBP(rule="product")`` of
        ``graftwork.inference`` takes the product of their marginals instead, as the authors of
        best-choice grafting did, ``rule="exact"`` the exact marginals.""",
        help="For the loss likelihood: {engines}; auto is exact while small, otherwise bp. "
        "bp:rule=product (or path, exact) says how the joint marginal of two variables without an "
        "edge is approximated.",
        metavar="NAME",
    ),
    Parameter(
        "penalty", "group-l1", _FREE, '{"group-l1", "l1", "elastic-net", "l2", "none"}',
        """``lam * sum d ||W||`` over whole edge tables; ``lam * ||w||_1`` over their single
        entries; the same with l2 > 0; ``lam * ||w||^2``, which keeps every edge; or nothing.
        Methods that activate single features do so for all but group-l1, where a feature is a whole
        table.""",
        help="{penalties}: group-l1 drops whole edges, l1 and elastic-net single entries, l2 and "
        "none nothing.",
        metavar="NAME",
    ),
    Parameter(
        "penalty_options", None, Options(), "dict, optional", "Options of the penalty:",
    ),
    Parameter(
        "l2", 0.0, Number(0), "float", "Strength of the squared norm added to the penalty.",
        within="penalty_options",
        help="Strength of a ridge on all weights, added to the penalty.",
    ),
    Parameter(
        "unary", False, _FREE, "bool or float",
        """Penalise the variables' own potentials too (the papers' setting; not advised): True with
        the same lam, a number with that one.""",
        within="penalty_options",
    ),
    Parameter(
        "lam", "auto", _FREE, 'float or "auto"',
        """Strength of the penalty. "auto" chooses the network (see ``goal`` and ``choice_``).
        Methods that know their number of edges ("chow-liu", "forced-pruning") need no sparsity:
        "auto" then means a mild prior alone.""",
        help="Strength of the penalty: larger means fewer edges. auto chooses it.",
        metavar="auto|NUMBER",
    ),
    Parameter(
        "goal", "structure", Choice(get_args(Goal)), '{"structure", "prediction"}',
        """What lam="auto" is after: the edges that are real ("structure"), tested one by one, or
        good predictions of new rows ("prediction"): with many more edges, or those of "structure"
        where these predict held-out rows as well.""",
        help="With --lam auto: find the edges that are real, or predict new rows best.",
    ),
    Parameter(
        "fdr", 0.01, Number(above=0, below=1), "float",
        """For goal="structure": the false discovery rate, the share of false edges among those
        kept that is accepted on average. .05 finds more.""",
        help="For the goal structure: the share of false edges accepted among those kept.",
        metavar="SHARE",
    ),
    Parameter(
        "criterion", None, _FREE, "str, optional",
        """With lam="auto", what chooses lambda: "tests" (structure; default), "k-fold"
        (prediction; default), "hold-out", "ebic", "ebic-refit", "ebic-then-refit", "stars",
        "adaptive". See docs/choosing-lambda.md.""",
        help="With --lam auto, what chooses lambda: {criteria}. NAME:OPTION=VALUE sets an option, "
        "as in k-fold:folds=5 or ebic:gamma=0.5.",
        metavar="NAME",
    ),
    Parameter(
        "criterion_options", None, Options(), "dict, optional",
        """Options of the criterion, such as ``{"folds": 5}`` or ``{"gamma": 0.5}``.""",
    ),
    Parameter(
        "knowledge", None, _FREE, "PriorKnowledge, optional",
        "Pairs that are required, forbidden or the only candidates, and factors of penalties.",
    ),
    Parameter(
        "required", None, _FREE, "pairs", "Edges that are always there, without a penalty.",
        within="knowledge",
        help="Edges that are always in the network.", metavar="A~B|FILE", panel=KNOWLEDGE,
    ),
    Parameter(
        "forbidden", None, _FREE, "pairs", "Edges that are never in the network.",
        within="knowledge",
        help="Edges that are never in the network.", metavar="A~B|FILE", panel=KNOWLEDGE,
    ),
    Parameter(
        "candidates", None, _FREE, "pairs", "The only edges that are allowed.",
        within="knowledge",
        help="The only edges that are allowed.", metavar="A~B|FILE", panel=KNOWLEDGE,
    ),
    Parameter(
        "penalty_weights", None, _FREE, "factors", "What lam is multiplied by for single edges.",
        within="knowledge",
        help="A file with two names and a factor for the edge's penalty per line: 0 means no "
        "penalty, inf forbids the edge.",
        metavar="FILE", panel=KNOWLEDGE,
    ),
    Parameter(
        "max_edges", None, _WHOLE, "int, optional",
        """Active edges at which to stop; of "forced-pruning", their number. A run that ends on a
        limit says so in its certificate.""",
        help="Stop at N edges; with forced-pruning, exactly N.",
        flags=("--max-edges", "--edges"), metavar="N", panel=LIMITS,
    ),
    Parameter(
        "max_seconds", None, Number(0, optional=True), "float, optional",
        "Seconds after which to stop.",
        help="Stop after S seconds of learning; reading and writing files is not counted.",
        metavar="S", panel=LIMITS,
    ),
    Parameter(
        "table_memory", "4GB", Memory(), "str or int",
        """Memory that the tables of the variable with the most states may take ("8GB", or bytes).
        It grows with the square of its states; data that would need more are refused.""",
        help="Refuse data if the tables of the variable with the most states would take more.",
        metavar="SIZE", panel=LIMITS,
    ),
    Parameter(
        "tol", 1e-6, Number(above=FINEST), "float",
        """Accuracy of the optimum, in the units of lam (differences of probabilities); above 1e-15,
        as sums over rows are no more accurate.""",
        help="Accuracy of the certificate.",
    ),
    Parameter(
        "tie", None, Number(1, whole=True, optional=True), "int, optional",
        """After learning, let the weights take only this many different values other than zero,
        those of the network nearest to the learned one. Limits are for learning alone.""",
        help="After learning, let the weights take only K different values.", metavar="K",
    ),
    Parameter(
        "states", None, _FREE, "dict {name: list of states}, optional",
        "Declared states, kept in this order even where they never occur.",
    ),
    Parameter(
        "bins", None, _FREE, "int or dict {name: int}, optional",
        """Columns of numbers with more different values than this are grouped into that many
        ordered bins of about equally many rows: states such as "<= 20", "(20, 35]", "> 35". A
        dict does so for some columns. New numbers find their bins by these names. See
        docs/bins.md.""",
        help="Group columns of numbers with more than N different values into N ordered bins of "
        "about equally many rows; age:5 does so for one column. Repeat for more.",
        metavar="N|NAME:N", panel=READING,
    ),
    Parameter(
        "ordinal", None, _FREE, "bool, str, list of names or dict, optional",
        """Which columns are ordered: True or "all"; their names; answers in order, such as
        "never < rarely < often", for every column that has no others; or a dict of each one's
        states from lowest to highest (or of their scores). None (default) is those of an ordered
        categorical type and, with lam="auto", integer items: all columns of more than two states,
        if these are three to seven whole numbers; False is none. The table of two ordered variables
        has a linear part, one signed number, and a rest that holds everything else; both are
        penalised and tested on their own, so that a relation that is not monotone is found as well.
        See docs/ordered.md.""",
        help="Ordered columns, separated by commas; all for every column, no for none. "
        "'never < rarely < often' says the order of every column with these answers, "
        "mood:low,medium,high that of one. Repeat for more.",
        metavar="NAMES|all|no", panel=READING,
    ),
    Parameter(
        "degree", 1, Number(1, whole=True), "int",
        """Of ordered columns: the largest power of their scores in what is called the linear part.
        2 lets a curve count as well.""",
        help="For ordered columns: 2 adds squares of their scores to the linear part.",
        metavar="K", panel=READING,
    ),
    Parameter(
        "shape", "auto", Choice(get_args(Shape)), '{"auto", "linear"}',
        """Of ordered columns: "auto" (default) takes the whole table where a relation is not
        linear; "linear" fits the linear part alone, one number for each pair, as ordinal Markov
        random fields of other programs do.""",
        help="For ordered columns: whole tables where relations are not linear (auto), or linear "
        "parts alone (linear).",
        panel=READING,
    ),
    Parameter(
        "missing", "error", Choice(get_args(MissingPolicy)),
        '{"error", "state", "drop-rows", "available-case", "impute"}',
        """What missing cells are: an error; a state of their own, "(missing)"; a reason to drop
        their rows; unknown, a missing neighbour counting as a state drawn from networks learned
        before; or drawn like that and then learned from like others. ``max_seconds`` is for all of
        these networks together, other limits for each.""",
        help="How to treat missing cells: as an error, a state of their own, a reason to drop "
        "rows, unknown (available-case: the rest of the row is used), or drawn (impute).",
        panel=READING,
    ),
    Parameter(
        "random_state", None, _FREE, "int, Generator or None",
        """Order in which pairs are looked at, which rows criteria hold out, and states drawn for
        missing cells. None (default) is a fixed seed: two plain fits are the same. With
        goal="structure" and no missing cells to draw the network does not depend on it.""",
    ),
    Parameter(
        "n_jobs", None, _FREE, "int, optional",
        "Threads; None is every core. Results do not depend on it.",
        help="Threads; all cores if not given.", flags=("--jobs",), metavar="N",
    ),
    Parameter(
        "device", "cpu", Choice(("cpu", "cuda", "auto")), '{"cpu", "cuda", "auto"}',
        """Where rows are counted and summed: by the processor, or by a GPU ("cuda", needs
        ``pip install 'graftwork[gpu]'``); "auto" takes a GPU where there is one. The network is the
        same.""",
        help="Where rows are counted and summed: the processor, a GPU (cuda), or a GPU if there is "
        "one (auto).",
    ),
    Parameter(
        "verbose", 0, _FREE, "int or Observer",
        "1 writes one line per round to standard error; an Observer is notified of every round.",
    ),
)  # fmt: skip


def options_of(within: str) -> tuple[Parameter, ...]:
    """Return the parameters that are options in the dict of another, or arguments for ``""``."""
    return tuple(each for each in PARAMETERS if each.within == within)


def checked(values: Mapping[str, Any], within: str = "") -> dict[str, Any]:
    """Return the values of parameters as they are used, defaults for those not given."""
    names = [each.name for each in options_of(within)]
    for name in values:
        known(f"{within}: option" if within else "parameter", name, names)
    return {
        each.name: each.check(each.name, values.get(each.name, each.default))
        for each in options_of(within)
    }


def gather(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments of MarkovNetwork for options by their own names."""
    homes = {each.name: each.within for each in PARAMETERS if each.within}
    found: dict[str, Any] = {}
    for name, value in options.items():
        home = homes.get(name)
        if home is not None:
            found[home] = {**found.get(home, {}), name: value}
        elif name in homes.values() and isinstance(value, Mapping):
            found[name] = {**value, **found.get(name, {})}
        else:
            found[name] = value
    return found


def joined(options: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Return options of all methods with those of one; where both are dicts, with both."""
    found = dict(options)
    for name, value in own.items():
        before = found.get(name)
        if isinstance(before, Mapping) and isinstance(value, Mapping):
            found[name] = {**before, **value}
        else:
            found[name] = value
    return found


def reference(parameters: Iterable[Parameter] = PARAMETERS) -> str:
    """Return the parameters as a numpydoc section has them."""
    blocks = []
    for each in parameters:
        if each.within:
            continue
        lines = [f"{each.name} : {each.type}", *_wrapped(each.text, "    ")]
        for option in options_of(each.name):
            lines += _wrapped(
                f"- ``{option.name}`` ({option.type}): {option.text}", "    ", "      "
            )
        blocks.append("\n".join(lines))
    return "\n".join(blocks)


def _wrapped(text: str, first: str, later: str | None = None) -> list[str]:
    """Return a text in lines of at most 96 characters."""
    return textwrap.wrap(
        " ".join(text.split()),
        width=96,
        initial_indent=first,
        subsequent_indent=first if later is None else later,
        break_long_words=False,
        break_on_hyphens=False,
    )


def known(parameter: str, value: Any, choices: Collection[str]) -> str:
    """Return the value if it is one of the choices, or refuse with the closest one."""
    if isinstance(value, str) and value in choices:
        return value
    close = difflib.get_close_matches(str(value), choices, 1)
    hint = f"; did you mean {close[0]!r}?" if close else "."
    if ":" in str(value) and f"{parameter}_options" in {each.name for each in PARAMETERS}:
        hint += f" Options go into {parameter}_options."
    listed = ", ".join(repr(choice) for choice in choices)
    raise ParameterError(f"{parameter}={value!r} is not known{hint} The choices are {listed}.")


def number(
    parameter: str,
    value: Any,
    low: float,
    *,
    above: bool = False,
    whole: bool = False,
    most: float = math.inf,
    below: float | None = None,
) -> float:
    """Return the value if it is a finite number from ``low`` on (or above it), or refuse."""
    kind = "a whole number" if whole else "a number"
    bound = f"above {low:g} and below {below:g}" if below is not None else _bound(low, most, above)
    refusal = f"{parameter} must be {kind} {bound}, got {value!r}."
    if isinstance(value, str) or value is None or type(value).__name__ in ("bool", "bool_"):
        raise ParameterError(refusal)
    try:
        result = float(value)
    except (TypeError, ValueError):
        raise ParameterError(refusal) from None
    except OverflowError:
        result = math.inf
    if LARGEST < result < math.inf or (result == math.inf and isinstance(value, Integral)):
        raise ParameterError(f"{parameter} must be {kind} of at most {LARGEST:g}.")
    outside = result <= low if above else result < low
    outside = outside or result > most or (below is not None and result >= below)
    if not math.isfinite(result) or outside or (whole and result != int(result)):
        raise ParameterError(refusal)
    return result


def _bound(low: float, most: float, above: bool) -> str:
    if most < math.inf:
        return f"from {low:g} to {most:g}"
    return f"greater than {low:g}" if above else f"at least {low:g}"


def whole_number(parameter: str, value: Any, low: int, most: float = math.inf) -> int:
    """Return the value if it is an integer from ``low`` on, or refuse; 3.0 is none.

    Examples
    --------
    >>> whole_number("count", 10, 1)
    10
    """
    fits = isinstance(value, Integral) and type(value).__name__ not in ("bool", "bool_")
    if not fits or not low <= int(value) <= most:
        bound = f"of at least {low}" if most == math.inf else f"from {low} to {most:g}"
        raise ParameterError(f"{parameter} must be a whole number {bound}, got {value!r}.")
    return int(value)


def check_jobs(value: Any) -> None:
    """Refuse a number of threads that means nothing, and return None.

    Examples
    --------
    >>> check_jobs(None), check_jobs(-1)
    (None, None)
    """
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if value is not None and (not whole or value == 0):
        raise ParameterError(f"n_jobs must be a whole number other than 0, got {value!r}.")
