/** All probabilities at once, before and after evidence, and the most probable joint state. */

import { dataOf, observe, seriesOf, statesOf, type Context } from "./context";
import { button, fill, h, name } from "./dom";
import { folded, percent } from "./format";
import { Marginal } from "./marginal";

const PAGE = 25;
const MOST_STATES = 8;
const MOVED =
  "Total variation: the probability that moved from some states to others, half the sum of all changes.";

export class WhatIf {
  readonly element: HTMLElement;
  private readonly list = h("div", { class: "marginals" });
  private readonly note = h("p", { class: "words", id: "mode-note" });
  private readonly filter: HTMLInputElement;
  private readonly order: HTMLSelectElement;
  private parts: { node: number; part: Marginal; moved: HTMLElement }[] = [];
  private shown = PAGE;
  private listed: number[] = [];

  constructor(private readonly context: Context) {
    this.filter = h("input", {
      type: "search",
      placeholder: "Filter by name",
      "aria-label": "Filter variables by name",
      id: "whatif-filter",
      on: { input: () => this.render() },
    });
    this.order = h(
      "select",
      {
        "aria-label": "Order of the variables",
        id: "whatif-order",
        on: { change: () => this.render() },
      },
      h("option", { value: "moved" }, "moved most first"),
      h("option", { value: "given" }, "in the order given"),
      h("option", { value: "name" }, "by name"),
    );
    this.element = h(
      "div",
      { class: "tab-body whatif" },
      h("div", { class: "table-bar" }, this.filter, this.order),
      this.note,
      this.list,
    );
  }

  /** Draw the list anew: other variables, or another order. */
  render(): void {
    this.shown = PAGE;
    this.draw();
  }

  /** Show new answers; the order changes only when they are complete. */
  refresh(): void {
    const order = this.ordered();
    const same = order.length === this.listed.length && order.every((i, k) => i === this.listed[k]);
    if (!same && !this.context.oracle.isWaiting && !this.isInUse()) this.draw();
    this.update();
  }

  /** Whether the focus is on a slider, which must not jump away while it is dragged. */
  private isInUse(): boolean {
    const active = document.activeElement;
    return (
      active instanceof HTMLInputElement && active.type === "range" && this.list.contains(active)
    );
  }

  private ordered(): number[] {
    const { view, oracle, store } = this.context;
    const wanted = folded(this.filter.value.trim());
    const all = [...view.names.keys()].filter(
      (i) => folded(view.names[i]).includes(wanted) && statesOf(this.context, i)?.length,
    );
    if (this.order.value === "name") {
      return all.sort((a, b) => view.names[a].localeCompare(view.names[b], "en"));
    }
    const moved = oracle.movement();
    if (this.order.value === "given" || !moved) return all;
    // What was observed comes first: it is what the others follow.
    const rank = (i: number) => (store.state.evidence.has(i) ? 2 : moved[i]);
    return all.sort((a, b) => rank(b) - rank(a) || a - b);
  }

  private draw(): void {
    const { context } = this;
    const focused = this.focusedState();
    this.listed = this.ordered();
    this.parts = this.listed.slice(0, this.shown).map((node) => ({
      node,
      moved: h("span", { class: "moved", title: MOVED }),
      part: new Marginal({
        name: context.view.names[node],
        states: statesOf(context, node),
        observe: (weights) => observe(context, node, weights),
        most: MOST_STATES,
      }),
    }));
    const left = this.listed.length - this.parts.length;
    const more = button(`Show more (${left.toLocaleString("en-US")} left)`, () => {
      this.shown += 4 * PAGE;
      this.draw();
    });
    fill(this.list, [
      ...this.parts.map(({ node, part, moved }) => {
        const title = button("", () => context.selectNode(node), { class: "link" });
        title.append(name(context.view.names[node]));
        return h("section", { "data-node": node }, h("h3", {}, title, moved), part.element);
      }),
      left > 0 && more,
    ]);
    this.update();
    if (focused) {
      this.list
        .querySelector<HTMLElement>(`[data-node="${focused[0]}"] [data-state="${focused[1]}"]`)
        ?.focus();
    }
  }

  private focusedState(): [string, string] | null {
    const active = document.activeElement as HTMLElement | null;
    const section = active?.closest<HTMLElement>("section[data-node]");
    const state = active?.dataset.state;
    return section && state !== undefined && this.list.contains(section)
      ? [section.dataset.node as string, state]
      : null;
  }

  private update(): void {
    const { context } = this;
    const { store, oracle } = context;
    const mode = oracle.latest?.modes?.[0];
    const moved = oracle.movement();
    for (const each of this.parts) {
      const best = mode ? mode.codes[each.node] : -1;
      const { node, part } = each;
      const weights = store.state.evidence.get(node);
      part.update(seriesOf(context, node), dataOf(context, node), weights, best);
      const far = moved?.[each.node];
      each.moved.textContent =
        far !== undefined && far >= 0.0005 && !store.state.evidence.has(each.node)
          ? `moved by ${percent(far)}`
          : "";
    }
    this.note.textContent = this.modeWords();
  }

  private modeWords(): string {
    const { oracle, store } = this.context;
    const asked = oracle.asked(store.state);
    if (asked.length > 1) {
      return "Bars are the groups, in their order; the diamonds are the most probable joint state of the first.";
    }
    const mode = oracle.latest?.modes?.[0];
    const bars = store.state.evidence.size
      ? "Pale bars: before. Dark bars: given the evidence. Moved by: the probability that went from some states to others (total variation)."
      : "Bars: probabilities without evidence.";
    if (mode === undefined) return `${bars} ◆ most probable joint state: computing …`;
    if (mode === null) return bars;
    return mode.exact
      ? `${bars} ◆ most probable joint state (exact).`
      : `${bars} ◆ most probable joint state: the best that a search found.`;
  }
}
