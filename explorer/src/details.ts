/** What is selected: a variable with its probabilities and neighbours, or a pair with its table. */

import { dataOf, modelOf, observe, seriesOf, statesOf, type Context } from "./context";
import type { Column, Model } from "./data";
import { button, fill, h, name, pairName } from "./dom";
import { count, percent, short, signed, tiny } from "./format";
import { Marginal } from "./marginal";
import { conditional, doubleCentred, pairTable, type Shown } from "./pairtable";
import { overview } from "./overview";
import { connections, countedNoun, sizeColumn } from "./scene";
import { DataTable } from "./table";

export class Details {
  readonly element = h("div", { class: "details" });
  private marginal: { node: number; part: Marginal } | null = null;
  private shown: Shown = "log-odds";
  private readonly tables = h("div", { class: "pair-tables" });

  constructor(
    private readonly context: Context,
    private readonly showEdges: (sort: string, up: boolean) => void,
  ) {}

  /** Draw what is selected anew. */
  render(): void {
    const { state } = this.context.store;
    this.marginal = null;
    if (state.pair >= 0) fill(this.element, this.pair(state.pair));
    else if (state.node >= 0) fill(this.element, this.variable(state.node));
    else fill(this.element, overview(this.context, this.showEdges));
    this.refresh();
  }

  /** Show new answers in what is there. */
  refresh(): void {
    const { state } = this.context.store;
    if (this.marginal) {
      const { node, part } = this.marginal;
      part.update(
        seriesOf(this.context, node),
        dataOf(this.context, node),
        state.evidence.get(node),
        -1,
      );
    }
    if (state.pair >= 0) this.fillTables(state.pair);
  }

  private close(): HTMLElement {
    const act = () => this.context.store.set({ node: -1, pair: -1, ego: 0 });
    return button("Back to overview", act, { class: "link back", id: "back" });
  }

  private variable(node: number): Node[] {
    const { context } = this;
    const { view, store } = context;
    const model = modelOf(context);
    const { degree, strength } = connections(view.names.length, model);
    const size = sizeColumn(model)?.label.toLowerCase() ?? "strength";
    const facts = [count(degree[node], countedNoun(model)), `${size} ${short(strength[node])}`];
    for (const grouping of view.groupings) {
      const group = grouping.of[node];
      const word = group < 0 ? "none" : grouping.names[group];
      facts.push(`${grouping.label.toLowerCase()} ${word}`);
    }
    for (const column of view.columns)
      if (!Number.isNaN(column.values[node]))
        facts.push(`${column.label.toLowerCase()} ${short(column.values[node])}`);
    const parts: (Node | null)[] = [
      this.close(),
      h("h2", {}, name(view.names[node])),
      h("p", { class: "facts-line" }, facts.join(" · ")),
    ];
    if (context.oracle.answers && statesOf(context, node).length) {
      const part = new Marginal({
        name: view.names[node],
        states: statesOf(context, node),
        observe: (weights) => observe(context, node, weights),
      });
      this.marginal = { node, part };
      parts.push(h("h3", {}, "Probabilities"), this.legend(), part.element);
    }
    const steps = [0, 1, 2].map((ego) =>
      button(["everything", "its neighbours", "two steps"][ego], () => store.set({ ego }), {
        "aria-pressed": store.state.ego === ego,
        "data-ego": ego,
      }),
    );
    parts.push(
      h("h3", {}, "Show"),
      h("div", { class: "segments", role: "group", "aria-label": "Show" }, ...steps),
      h("h3", {}, "Neighbours"),
      this.neighbours(node, model),
    );
    return parts.filter((part): part is Node => part !== null);
  }

  private legend(): HTMLElement {
    const { context } = this;
    const asked = context.oracle.asked(context.store.state);
    if (asked.length < 2) return h("p", { class: "key" });
    return h(
      "p",
      { class: "key" },
      ...asked.map((m, k) => h("span", { class: `key-${k}` }, context.view.models[m].label)),
    );
  }

  private neighbours(node: number, model: Model): HTMLElement {
    const { context } = this;
    const { pairs } = model;
    const rows = [...Array(pairs.length / 2).keys()].filter(
      (e) => pairs[2 * e] === node || pairs[2 * e + 1] === node,
    );
    const other = (e: number) => (pairs[2 * e] === node ? pairs[2 * e + 1] : pairs[2 * e]);
    const table = new DataTable({
      caption: `Neighbours of ${context.view.names[node]}`,
      sort: model.groups.length ? "q_value" : "strength",
      select: (e) => context.selectPair(e),
      columns: [
        {
          key: "name",
          label: "Neighbour",
          ascending: true,
          value: (e) => context.view.names[other(e)],
          cell: (e) => name(context.view.names[other(e)]),
        },
        ...edgeColumns(
          model,
          [
            ...(model.groups.length
              ? ["differs", "weight_difference", "difference"]
              : ["strength", "weight", "edge"]),
            "q_value",
            "frequency",
          ],
          rows,
        ),
      ],
    });
    table.setRows(rows);
    return table.element;
  }

  private pair(e: number): Node[] {
    const { context } = this;
    const model = modelOf(context);
    const names = context.view.names;
    const [i, j] = [model.pairs[2 * e], model.pairs[2 * e + 1]];
    const facts = model.columns
      .filter((column) => !Number.isNaN(column.values[e]))
      .map((column) =>
        h(
          "div",
          { title: column.about },
          h("dt", {}, column.label),
          h("dd", {}, wordsOf(column.key, column.values[e])),
        ),
      );
    const asked = context.oracle.asked(context.store.state);
    const choices: [Shown, string][] = [
      ["log-odds", "log-odds"],
      ["joint", "joint"],
      ["rows", "given first"],
      ["columns", "given second"],
    ];
    const buttons = choices.map(([shown, label]) =>
      button(label, () => this.choose(shown), {
        "aria-pressed": this.shown === shown,
        "data-shown": shown,
      }),
    );
    const go = (node: number) => {
      const made = button("", () => context.selectNode(node), { class: "link" });
      made.append(name(names[node]));
      return made;
    };
    return [
      this.close(),
      h("h2", {}, pairName(names[i], names[j])),
      h("p", { class: "facts-line" }, "Variables: ", go(i), ", ", go(j)),
      h("dl", { class: "facts numbers" }, ...facts),
      ...(asked.length
        ? [
            h("h3", {}, "Table"),
            h(
              "div",
              { class: "segments", role: "group", "aria-label": "Numbers of the table" },
              ...buttons,
            ),
            this.tables,
          ]
        : []),
    ];
  }

  private choose(shown: Shown): void {
    this.shown = shown;
    for (const each of this.element.querySelectorAll<HTMLElement>("[data-shown]")) {
      each.setAttribute("aria-pressed", String(each.dataset.shown === shown));
    }
    this.refresh();
  }

  private fillTables(e: number): void {
    const { context } = this;
    const { view, oracle, store } = context;
    const [i, j] = [modelOf(context).pairs[2 * e], modelOf(context).pairs[2 * e + 1]];
    const asked = oracle.asked(store.state);
    const made = asked.map((m, k) => {
      const model = view.models[m];
      const edge = oracle.edge(m, store.state);
      const own = asked.length > 1 ? `${model.label}: ` : "";
      if (edge < 0 || !model.network) {
        return h("p", { class: "words" }, `${own}not an edge of this network.`);
      }
      const { network } = model;
      const table = network.weights.subarray(
        network.edgeOffsets[edge],
        network.edgeOffsets[edge + 1],
      );
      const joint = oracle.latest?.answers[k]?.pairs.get(edge);
      const odds = this.shown === "log-odds";
      if (!odds && !joint) return h("p", { class: "words" }, `${own}computing …`);
      return pairTable({
        first: view.names[i],
        second: view.names[j],
        firstStates: model.states[i],
        secondStates: model.states[j],
        values: odds
          ? doubleCentred(table, network.cards[i], network.cards[j])
          : conditional(joint as Float64Array, network.cards[j], this.shown),
        shown: this.shown,
        caption: own,
      });
    });
    const evidence = store.state.evidence.size > 0;
    const note = {
      "log-odds":
        "Above 0: these states go together more often than they would by themselves; below 0, less often.",
      joint: `Of both states together${evidence ? ", given the evidence" : ""}.`,
      rows: `Of the second variable, given the first${evidence ? " and the evidence" : ""}: rows add up to 100 %.`,
      columns: `Of the first variable, given the second${evidence ? " and the evidence" : ""}: columns add up to 100 %.`,
    }[this.shown];
    fill(this.tables, [...made, h("p", { class: "words" }, note)]);
  }
}

/** Return a number of an edge in the words it is usually written in. */
export function wordsOf(key: string, value: number): string {
  if (key === "p_value" || key === "q_value") return tiny(value);
  if (key === "frequency") return percent(value);
  if (key === "differs" || key === "edge") return value ? "yes" : "no";
  if (/^(weight|correlation|difference)/.test(key)) return signed(value);
  return short(value);
}

/** Whether something is known of a column, in some rows or in any. */
export function isKnown({ values }: Column, rows?: readonly number[]): boolean {
  return rows ? rows.some((e) => !Number.isNaN(values[e])) : values.some((v) => !Number.isNaN(v));
}

/** Return the columns of a table of edges of which something is known, in the order asked for. */
export function edgeColumns(model: Model, keys: string[], rows?: number[]) {
  return keys.flatMap((key) => {
    const column = model.columns.find((each) => each.key === key);
    if (!column || !isKnown(column, rows)) return [];
    const { values } = column;
    const bar = key === "strength";
    const top = bar
      ? values.reduce((most, v) => (Number.isFinite(v) ? Math.max(most, v) : most), 1e-12)
      : 1;
    return [
      {
        key,
        label: column.label,
        about: column.about,
        numeric: true,
        ascending: key === "p_value" || key === "q_value",
        value: (e: number) => values[e],
        cell: (e: number) => {
          // Empty cells are read faster than dashes.
          if (Number.isNaN(values[e])) return "";
          const words = wordsOf(key, values[e]);
          const share = String(Math.min(values[e] / top, 1));
          return bar ? h("span", { class: "with-bar", vars: { share } }, words) : words;
        },
      },
    ];
  });
}
