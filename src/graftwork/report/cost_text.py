"""What learning would cost, in words."""

from __future__ import annotations

from graftwork.estimators.estimate import CostEstimate
from graftwork.inference import JunctionTree
from graftwork.text import count, section, size


def cost_summary(cost: CostEstimate) -> str:
    """Return an estimate as paragraphs under headings."""
    return "\n\n".join(section(title, text) for title, text in cost_sections(cost))


def cost_sections(cost: CostEstimate) -> list[tuple[str, str]]:
    """Return headings and paragraphs."""
    return [
        ("Data", _data(cost)),
        ("Time", _time(cost)),
        ("Memory", _memory(cost)),
        ("Inference", _inference(cost)),
    ]


def _data(cost: CostEstimate) -> str:
    low, high = cost.states
    each = f"{low:,} to {high:,} states" if low < high else f"{count(low, 'state')} each"
    text = f"{count(cost.rows, 'row')} of {count(cost.variables, 'variable')}, {each}."
    if cost.merged_rows < cost.rows:
        text += f" Equal rows are merged, which leaves {cost.merged_rows:,}."
    if cost.total_weight != cost.rows:
        text += f" Their total weight is {cost.total_weight:,.6g}."
    if cost.missing_cells:
        text += (
            f" {count(cost.missing_cells, 'missing cell')} in {count(cost.incomplete_rows, 'row')}:"
            f" the estimate is for missing={cost.missing!r}."
        )
    text += (
        f" There are {count(cost.pairs, 'pair')} that may become edges; a network of all has "
        f"{count(cost.parameters, 'parameter')}"
    )
    if cost.entries > cost.parameters:
        text += (
            f" where edges of ordered variables are linear, and {cost.entries:,} if all had whole "
            "tables"
        )
    text += "."
    if cost.timing.parameters > cost.total_weight:
        text += (
            f" Even one of {count(cost.timing.edges, 'edge')} has more parameters "
            f"({cost.timing.parameters:,}) than there are rows: fewer states, or a larger lambda, "
            "would be safer."
        )
    return text


def _time(cost: CostEstimate) -> str:
    timing, (low, high) = cost.timing, cost.seconds
    text = (
        f"Between {duration(low)} and {duration(high)} on {count(cost.threads, 'thread')}: a rough "
        f"guess. One evaluation of the loss takes {duration(timing.evaluation)} in a network of "
        f"{count(timing.edges, 'edge')} made for the purpose, one pass over all pairs "
        f"{duration(timing.scoring)}."
    )
    if timing.variables < cost.variables - cost.constant or timing.rows < cost.merged_rows:
        text += (
            f" Both were timed on {count(timing.rows, 'row')} of "
            f"{count(timing.variables, 'variable')} and scaled up."
        )
    text += (
        f" A fit at one lambda usually takes {_range(cost.evaluations)} evaluations and "
        f"{_passes(cost)}."
    )
    if cost.fits[1] > 1:
        text += f" Choosing lambda or the edges usually takes {_range(cost.fits)} such fits."
    if cost.networks > 1:
        text += f" {cost.networks} networks are learned in turn, to draw missing cells from."
    return text


def _memory(cost: CostEstimate) -> str:
    parts = [f"{what} {size(held)}" for what, held in cost.memory.items() if held]
    text = f"About {size(cost.peak_bytes)}: {', '.join(parts)}."
    if cost.device_memory:
        held = [f"{what} {size(own)}" for what, own in cost.device_memory.items()]
        most = size(sum(cost.device_memory.values()))
        text += (
            f" On the GPU at most {most}: {', '.join(held)}. With less, rows "
            "are sent to it in chunks and pairs are scored in parts. Times are those of the "
            "processor."
        )
    return text


def _inference(cost: CostEstimate) -> str:
    """Return what exact inference needs, and whether it is used."""
    timing = cost.timing
    least = "at least " if timing.variables < cost.variables - cost.constant else ""
    needs = (
        f"Exact inference in a network of {count(timing.edges, 'edge')} like the one timed has "
        f"treewidth {least}{cost.treewidth} and tables of {least}{size(cost.inference_bytes)}"
    )
    if timing.refused:
        return f"{needs}; with {count(timing.refused, 'edge')} it is refused."
    if cost.loss == "likelihood":
        return f"{needs}; inference was {'exact' if timing.exact else 'approximate'}."
    fits = timing.inference.total_cells <= JunctionTree().limit_cells
    return (
        f"Learning needs none. {needs}: answers to questions would be "
        f"{'exact' if fits else 'approximate'}."
    )


def _passes(cost: CostEstimate) -> str:
    if cost.passes[1] == 1:
        return "one pass: all pairs are edges from the start"
    return f"{_range(cost.passes)} passes, more with more edges"


def _range(ends: tuple[int, int]) -> str:
    return f"{ends[0]:,} to {ends[1]:,}"


def duration(seconds: float) -> str:
    """Return a time in words.

    Examples
    --------
    >>> duration(0.0012), duration(0.25), duration(42), duration(600), duration(90_000)
    ('1.2 ms', '0.25 s', '42 s', '10 min', '1.0 days')
    """
    if seconds < 0.1:
        return f"{1000 * seconds:.2g} ms"
    if seconds < 100:
        return f"{seconds:.2g} s"
    if seconds < 100 * 60:
        return f"{seconds / 60:.0f} min"
    if seconds < 24 * 3600:
        return f"{seconds / 3600:.1f} h"
    return f"{seconds / 86400:,.1f} days"
