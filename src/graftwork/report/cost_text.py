"""What learning would cost, in words."""

from __future__ import annotations

from graftwork.estimators.estimate import CostEstimate
from graftwork.text import count, section, size


def cost_summary(cost: CostEstimate) -> str:
    """Return an estimate as paragraphs under headings."""
    return "\n\n".join(section(title, text) for title, text in cost_sections(cost))


def cost_sections(cost: CostEstimate) -> list[tuple[str, str]]:
    """Return headings and paragraphs."""
    return [
        ("Data", _data(cost)),
        ("Memory", _memory(cost)),
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
    if cost.likely_parameters > cost.total_weight:
        text += (
            f" Even one of {count(cost.edges, 'edge')} has more parameters "
            f"({cost.likely_parameters:,}) than there are rows: fewer states, or a larger lambda, "
            "would be safer."
        )
    return text


def _memory(cost: CostEstimate) -> str:
    parts = [f"{what} {size(held)}" for what, held in cost.memory.items() if held]
    text = f"About {size(cost.peak_bytes)} with {count(cost.edges, 'edge')}: {', '.join(parts)}."
    if cost.device_memory:
        held = [f"{what} {size(own)}" for what, own in cost.device_memory.items()]
        most = size(sum(cost.device_memory.values()))
        text += (
            f" On the GPU at most {most}: {', '.join(held)}. With less, rows "
            "are sent to it in chunks and pairs are scored in parts."
        )
    return text
