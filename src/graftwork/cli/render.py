"""Answers as text and as JSON."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from graftwork.cli.matching import Meanings
from graftwork.text import WIDTH, cut, harmless, on_a_line, table

if TYPE_CHECKING:
    from graftwork.models import PairwiseMRF
    from graftwork.models.observed import Answer
    from graftwork.report.edges import Tested
    from graftwork.report.scores import Scores

#: What a model file says of one thing, in words; None if it says nothing.
Fact = Callable[[dict[str, Any]], Any]

_BAR = 30
_HANG = " " * 16
_VARIABLES_SHOWN = 60
_STATES_SHOWN = 12
#: The characters that are shown of anything a model file says of the learning.
_MOST_SHOWN = 2000


def query_json(
    model: PairwiseMRF, evidence: dict[Any, Any], found: dict[str, Any]
) -> dict[str, Any]:
    """Return answers as values JSON can hold; states keep their types."""
    out: dict[str, Any] = {"given": {str(name): state for name, state in evidence.items()}}
    if "marginals" in found:
        out["marginals"] = {
            str(name): {"states": list(model.states[name]), "probabilities": values.tolist()}
            for name, values in found["marginals"].items()
        }
        for name, shares in found["data"].items():
            out["marginals"][str(name)]["data"] = shares.tolist()
        answer, rows = found["answer"], model.observed
        out["inference"] = {"how": answer.how, "exact": answer.exact, "noise": answer.noise}
        out["weights"] = None if rows is None else rows.fitted
        out["margin_error"] = None if rows is None else rows.margin_error
    if "pair" in found:
        a, b, joint, seen = found["pair"]
        out["pair"] = {
            "variables": [a, b],
            "states": [list(model.states[a]), list(model.states[b])],
            "probabilities": joint.tolist(),
        }
        if seen is not None:
            out["pair"]["data"] = seen.tolist()
    if "map" in found:
        out["map"] = {str(name): state for name, state in found["map"].items()}
    if "log_partition" in found:
        out["log_partition"] = found["log_partition"]
    return out


def query_text(
    model: PairwiseMRF,
    evidence: dict[Any, Any],
    found: dict[str, Any],
    meanings: Meanings | None,
) -> str:
    """Return answers as text for people, and for grep: one fact a line."""
    blocks = []
    if evidence:
        told = (
            f"{on_a_line(n)} = {on_a_line(_state(n, s, meanings))}" for n, s in evidence.items()
        )
        blocks.append(f"given {', '.join(told)}")
    for name, values in found.get("marginals", {}).items():
        seen = found["data"].get(name)
        blocks.append(_marginal(name, model.states[name], values, seen, meanings))
    if "answer" in found:
        blocks.append(_how(model, found["answer"]))
    if "pair" in found:
        a, b, joint, seen = found["pair"]
        blocks.append(_pair(a, b, model, joint, seen, meanings))
    if "map" in found:
        states = [[str(name), _state(name, s, meanings)] for name, s in found["map"].items()]
        blocks.append(f"most probable joint state\n{table(states)}")
    if "log_partition" in found:
        bound = ", an upper bound" if found["bound"] else ""
        blocks.append(f"log partition function  {found['log_partition']:.6f}{bound}")
    return "\n\n".join(blocks)


def _state(name: Any, state: Any, meanings: Meanings | None) -> str:
    """Return a state as text, with its word behind it where there is one."""
    word = (meanings or {}).get(name, {}).get(state)
    return f"{state} ({word})" if word and word != str(state) else str(state)


def _marginal(
    name: Any, states: Sequence[Any], values: Any, seen: Any, meanings: Meanings | None
) -> str:
    rows = [
        [_state(name, state, meanings), f"{p:.4f}", "#" * round(_BAR * p)]
        for state, p in zip(states, values.tolist(), strict=True)
    ]
    if seen is not None:
        width = max(len(row[2]) for row in rows)
        for row, share in zip(rows, seen.tolist(), strict=True):
            row[2] = f"{row[2]:{width}}  data {share:.1%}"
    return f"{on_a_line(name)}\n{table(rows)}"


def _how(model: PairwiseMRF, answer: Answer) -> str:
    """Return how an answer was found, and how far the network is from its rows."""
    from graftwork.report.margins import WEIGHTS, distance_text

    told = answer.how
    if answer.noise:
        told += f", standard error up to {100 * answer.noise:.1f} points"
    rows = model.observed
    if rows is None:
        return f"arithmetic: {told}"
    return (
        f"arithmetic: {told}\nweights: {WEIGHTS[rows.fitted]}\n"
        f"single variables against the rows: {distance_text(rows)}"
    )


def _pair(
    a: Any, b: Any, model: PairwiseMRF, joint: Any, seen: Any, meanings: Meanings | None
) -> str:
    titles = ["", *(_state(b, state, meanings) for state in model.states[b])]
    cells = [[f"{p:.4f}" for p in row] for row in joint.tolist()]
    if seen is not None:
        titles += ["data", *titles[1:]]
        cells = [
            [*row, "", *(f"{p:.1%}" for p in shares)]
            for row, shares in zip(cells, seen.tolist(), strict=True)
        ]
    rows = [
        [_state(a, state, meanings), *row]
        for state, row in zip(model.states[a], cells, strict=True)
    ]
    sides = "l" + "r" * (len(titles) - 1)
    return f"{on_a_line(a)} (down) and {on_a_line(b)} (across)\n{table(rows, titles, sides)}"


def model_text(model: PairwiseMRF, info: dict[str, Any]) -> str:
    """Return the variables, their states, the size of the network and how it came about."""
    from graftwork.report.shapes import states_text
    from graftwork.report.summary import network_text

    certificate = info.get("certificate")
    looked = not isinstance(certificate, dict) or bool(certificate.get("converged", True))
    lines = [textwrap.fill(network_text(model, looked), WIDTH, break_on_hyphens=False), ""]
    lines += _history(info)
    shown = model.names[:_VARIABLES_SHOWN]
    ordered = any(len(model.states[name]) > 2 for name in model.scores)
    lines.append(f"Variables and their states{' (ordered where < is between them)' * ordered}")
    lines.append(table([[str(name), states_text(model, name, _STATES_SHOWN)] for name in shown]))
    if len(shown) < model.n_variables:
        lines.append(f"  and {model.n_variables - len(shown):,} more variables")
    return "\n".join(lines)


def tests_text(tests: Tested, info: dict[str, Any]) -> str | None:
    """Return what the p-values and q-values of a network's edges mean, below a heading.

    None if nothing was tested; a file of an earlier version does not hold them, which is said.
    """
    import numpy as np

    from graftwork.report.choice_text import meaning_text
    from graftwork.text import section

    n_tests, fdr = info.get("tests"), info.get("fdr")
    if not n_tests or not isinstance(fdr, float):
        return None
    text = "The p-values of its edges are not in this file, which an earlier version wrote."
    if tests or info.get("edge_tests") == []:
        text = meaning_text(np.array([test.q_value for test in tests.values()]), fdr)
    return section("What the numbers mean", text)


def saved_shape_text(model: PairwiseMRF, info: dict[str, Any]) -> str | None:
    """Return which edges of ordered variables are not linear, below a heading; None without any."""
    from graftwork.report.shapes import shape_text
    from graftwork.text import section

    text = shape_text(model, info)
    return section("Shape", text) if text else None


def _history(info: dict[str, Any]) -> list[str]:
    """Return what the file says about how the network was learned, in lines."""
    from graftwork.report.summary import saved_certificate_text, saved_choice_text

    facts: dict[str, Fact] = {
        "learned from": _source,
        "group": _group,
        "missing": _missing,
        "method": method_words,
        "start": lambda info: info.get("start"),
        "loss": lambda info: info.get("loss"),
        "penalty": _penalty,
        "lambda": _lambda,
        "choice": saved_choice_text,
        "exchange": _exchange,
        "tied": _tied,
        "held out": _held,
        "certificate": saved_certificate_text,
    }
    return history_lines(understood(facts, info) or info)


def understood(facts: Mapping[str, Fact], info: dict[str, Any]) -> dict[str, Any]:
    """Return what a model file says of the learning, by heading; what has another form is left out.

    The info of a file is anybody's: what graftwork writes there may be something else.

    Examples
    --------
    >>> understood({"rows": lambda info: f"{info['rows']:,}"}, {"rows": [5]})
    {}
    """
    known = {}
    for name, fact in facts.items():
        with suppress(TypeError, ValueError, LookupError, AttributeError, ArithmeticError):
            known[name] = fact(info)
    return {name: value for name, value in known.items() if value is not None}


def _source(info: dict[str, Any]) -> str | None:
    """Return which rows a network was learned from, where that is known."""
    if "data" not in info:
        return None
    files = info.get("files")
    read = f" (read in parts, {files} file{'s'[: files != 1]})" if files else ""
    return f"{info.get('data')}{read}, {info.get('rows')} rows"


def _group(info: dict[str, Any]) -> str | None:
    """Return the group of rows that a network was learned from, where it was that of one."""
    group = info.get("group")
    if not isinstance(group, dict):
        return None
    return f"{group['variable']} = {group['value']}, {info['rows']:,g} rows"


def history_lines(told: Mapping[str, Any]) -> list[str]:
    """Return what is known about how a model was learned in lines below a heading.

    Examples
    --------
    >>> history_lines({"method": "gain"})
    ['How it was learned', '  method        gain', '']
    """
    lines = [
        textwrap.fill(
            f"{name_:<12}  {cut(harmless(str(value)), _MOST_SHOWN)}",
            WIDTH,
            initial_indent="  ",
            subsequent_indent=_HANG,
            break_on_hyphens=False,
        )
        for name_, value in ((on_a_line(name), value) for name, value in told.items())
    ]
    return ["How it was learned", *lines, ""] if lines else []


def _penalty(info: dict[str, Any]) -> str | None:
    """Return the penalty, or why there is none."""
    from graftwork.report.choice_text import choice_text
    from graftwork.selection import LambdaChoice

    choice = info.get("choice")
    if isinstance(choice, dict) and choice.get("how") in ("none", "sized"):
        return choice_text(LambdaChoice(choice["how"], 0.0))
    return info.get("penalty")


def _exchange(info: dict[str, Any]) -> str | None:
    """Return what the exchanges of edges did, if there were any."""
    plain = info.get("exchange")
    from graftwork.grafting import Tally
    from graftwork.report.describe import exchange_text

    return exchange_text(Tally.from_dict(plain)) if isinstance(plain, dict) else None


def method_words(info: dict[str, Any]) -> str | None:
    """Return the method's name, with the options it was given."""
    settings = info.get("settings")
    options = settings.get("method_options") if isinstance(settings, dict) else None
    if not isinstance(options, dict):
        return info.get("method")
    return f"{info.get('method')} ({', '.join(f'{k} {v}' for k, v in options.items())})"


def _lambda(info: dict[str, Any]) -> str | None:
    lam = info.get("lam")
    return f"{lam:.4g}" if isinstance(lam, float) and lam > 0 else None


def _tied(info: dict[str, Any]) -> str | None:
    tying = info.get("tying")
    if not isinstance(tying, dict) or not tying.get("rounds"):
        return None
    return (
        f"{tying['weights']:,} weights to {tying['values']:,} values; the loss rose from "
        f"{tying['loss_before']:.6g} to {tying['loss_after']:.6g}"
    )


def _missing(info: dict[str, Any]) -> str | None:
    found = info.get("missing")
    if not isinstance(found, dict) or not found.get("cells"):
        return None
    return f"{found['policy']}: {found['cells']:,} cells, in {found['rows']:,} rows"


def _held(info: dict[str, Any]) -> str | None:
    held = info.get("held_out")
    if not isinstance(held, dict):
        return None
    others = held.get("learned_from")
    whose = f" of a network learned from {others:,} others" if others else ""
    return (
        f"NLPL {held['nlpl']:.4f} nats per row on {held['rows']:,} rows{whose} "
        f"(independent variables: {held['independent_nlpl']:.4f})"
    )


def scores_text(scores: Scores) -> str:
    """Return scores as text, one a line."""
    from graftwork.report.scores import cell_word, cmll_words, gap_words

    gaps = gap_words(scores.n_incomplete, scores.n_left_out)
    each = f"{scores.nlpl_of_a_cell:.6f} {cell_word(scores.n_incomplete)}"
    rows = [
        ["rows", f"{scores.n_rows:,}{f' ({gaps})' if gaps else ''}"],
        ["NLPL", f"{scores.nlpl:.6f} nats per row, {each}"],
    ]
    if scores.log_likelihood is not None:
        rows.append(["log-likelihood", f"{scores.log_likelihood:.6f} nats per row, exact"])
    if scores.cmll is not None:
        how = cmll_words(scores.cmll_exact, scores.cmll_unconverged)
        rows.append(["CMLL", f"{scores.cmll:.6f} nats per variable, {how}"])
    if scores.edges is not None:
        edges = scores.edges
        counts = f"{edges.n_edges:,} found, {edges.n_true:,} true, {edges.n_hits:,} both"
        rows += [
            ["edges", counts],
            ["precision", f"{edges.precision:.6f}"],
            ["recall", f"{edges.recall:.6f}"],
            ["F1", f"{edges.f1:.6f}"],
            ["Hamming", f"{edges.hamming:,}"],
        ]
    return textwrap.dedent(table(rows))
