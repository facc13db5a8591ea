/** The tables beside the picture: all edges that pass the filters, and all variables. */

import { modelOf, type Context } from "./context";
import { valuesOf, type Model } from "./data";
import { edgeColumns, isKnown } from "./details";
import { button, h, name, pairName } from "./dom";
import { count, folded, short } from "./format";
import { connections, countedNoun, passes, sizeColumn } from "./scene";
import { DataTable, type TableColumn } from "./table";

const FIRST = ["strength", "weight", "edge", "q_value", "frequency"];
/** Of differences between groups, the mean of the groups is not what one looks for first. */
const FIRST_OF_GROUPS = ["differs", "q_value", "weight_difference", "difference"];

export class EdgeTable {
  readonly element: HTMLElement;
  private readonly table: DataTable;
  private readonly filter: HTMLInputElement;
  private readonly counted = h("span", { class: "counted", role: "status" });
  private all = false;

  constructor(private readonly context: Context) {
    this.filter = h("input", {
      type: "search",
      placeholder: "Filter by name",
      "aria-label": "Filter edges by the name of a variable",
      id: "edge-filter",
      on: { input: () => this.fill() },
    });
    const more = h("input", {
      type: "checkbox",
      id: "all-columns",
      on: {
        change: () => {
          this.all = more.checked;
          this.table.setColumns(this.columns());
        },
      },
    });
    this.table = new DataTable({
      caption: "Edges that pass the filters",
      columns: this.columns(),
      sort: firstSort(modelOf(context)),
      select: (e) => context.selectPair(e),
    });
    this.element = h(
      "div",
      { class: "tab-body" },
      h(
        "div",
        { class: "table-bar" },
        this.filter,
        h("label", {}, more, "all columns"),
        button("CSV", () => this.save(), { title: "Save the table as it is" }),
        this.counted,
      ),
      this.table.element,
    );
  }

  /** Another model: other columns, and other rows. */
  reset(): void {
    this.table.setRows([]);
    this.table.setColumns(this.columns());
    const sort = firstSort(modelOf(this.context));
    this.table.sortBy(sort, sort === "q_value");
    this.fill();
  }

  fill(): void {
    const { store, view } = this.context;
    const model = modelOf(this.context);
    const passing = passes(model, store.state);
    const wanted = folded(this.filter.value.trim());
    const has = (i: number) => folded(view.names[i]).includes(wanted);
    const rows = [...passing.keys()].filter(
      (e) => passing[e] && (!wanted || has(model.pairs[2 * e]) || has(model.pairs[2 * e + 1])),
    );
    this.table.setRows(rows);
    this.counted.textContent = count(rows.length, model.noun);
    this.select(false);
  }

  select(turn: boolean): void {
    this.table.setSelected(this.context.store.state.pair, turn);
  }

  sortBy(key: string, ascending: boolean): void {
    this.table.sortBy(key, ascending);
  }

  private columns(): TableColumn[] {
    const { view } = this.context;
    const model = modelOf(this.context);
    const ends = (e: number) => [
      view.names[model.pairs[2 * e]],
      view.names[model.pairs[2 * e + 1]],
    ];
    const keys = model.columns.map((column) => column.key);
    const first = model.groups.length
      ? [...FIRST_OF_GROUPS, ...keys.filter((key) => testedSizes(model).test(key))]
      : FIRST;
    const listed = this.all ? [...first, ...keys.filter((key) => !first.includes(key))] : first;
    return [
      {
        key: "pair",
        label: model.noun === "pair" ? "Pair" : "Edge",
        ascending: true,
        value: (e) => ends(e).join(" "),
        cell: (e) => pairName(ends(e)[0], ends(e)[1]),
      },
      ...edgeColumns(model, listed),
    ];
  }

  private save(): void {
    const model = modelOf(this.context);
    const { view } = this.context;
    const quoted = (text: string) =>
      /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    const head = ["first", "second", ...model.columns.map((column) => column.key)];
    const lines = this.table.order_.map((e) => [
      quoted(view.names[model.pairs[2 * e]]),
      quoted(view.names[model.pairs[2 * e + 1]]),
      ...model.columns.map(({ values }) => (Number.isNaN(values[e]) ? "" : String(values[e]))),
    ]);
    const text = [head, ...lines].map((cells) => cells.join(",")).join("\n");
    download(new Blob([`${text}\n`], { type: "text/csv" }), "edges.csv");
  }
}

/** The column that a table starts with: the surest differences first, or the largest edges. */
export function firstSort(model: Model): string {
  return model.groups.length ? "q_value" : "strength";
}

/** The numbers of each group that the tests are about: signed weights, norms of tables, or both. */
function testedSizes(model: Model): RegExp {
  const weights = valuesOf(model.columns, "weight_0");
  if (!weights) return /^norm_\d+$/;
  return weights.some((w) => Number.isNaN(w)) ? /^(weight|norm)_\d+$/ : /^weight_\d+$/;
}

export function download(blob: Blob, file: string): void {
  const url = URL.createObjectURL(blob);
  const link = h("a", { href: url, download: file });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

export class VariableTable {
  readonly element: HTMLElement;
  private readonly table: DataTable;
  private readonly filter: HTMLInputElement;

  constructor(private readonly context: Context) {
    this.filter = h("input", {
      type: "search",
      placeholder: "Filter by name",
      "aria-label": "Filter variables by name",
      id: "variable-filter",
      on: { input: () => this.fill() },
    });
    this.table = new DataTable({
      caption: "Variables",
      columns: this.columns(),
      sort: "degree",
      select: (i) => context.selectNode(i),
    });
    this.element = h(
      "div",
      { class: "tab-body" },
      h("div", { class: "table-bar" }, this.filter),
      this.table.element,
    );
  }

  reset(): void {
    this.table.setColumns(this.columns());
    this.fill();
  }

  fill(): void {
    const wanted = folded(this.filter.value.trim());
    const { names } = this.context.view;
    this.table.setRows([...names.keys()].filter((i) => folded(names[i]).includes(wanted)));
    this.select(false);
  }

  select(turn: boolean): void {
    this.table.setSelected(this.context.store.state.node, turn);
  }

  private columns(): TableColumn[] {
    const { view } = this.context;
    const model = modelOf(this.context);
    const size = sizeColumn(model);
    const { degree, strength } = connections(view.names.length, model);
    const top = strength.reduce(
      (most, s) => (Number.isFinite(s) ? Math.max(most, s) : most),
      1e-12,
    );
    const groupings = view.groupings.map((grouping, g): TableColumn => {
      const text = (i: number) => (grouping.of[i] < 0 ? "" : grouping.names[grouping.of[i]]);
      return {
        key: `group_${g}`,
        label: grouping.label,
        ascending: true,
        value: text,
        cell: (i) => name(text(i)),
      };
    });
    return [
      {
        key: "name",
        label: "Variable",
        ascending: true,
        value: (i) => view.names[i],
        cell: (i) => name(view.names[i]),
      },
      {
        key: "degree",
        label: countedNoun(model) === "edge" ? "Edges" : "Pairs",
        numeric: true,
        value: (i) => degree[i] + strength[i] * 1e-9,
        cell: (i) => String(degree[i]),
      },
      {
        key: "strength",
        label: size?.label ?? "Strength",
        about: `The sum over its ${countedNoun(model)}s.`,
        numeric: true,
        value: (i) => strength[i],
        cell: (i) =>
          h(
            "span",
            { class: "with-bar", vars: { share: String(strength[i] / top) } },
            short(strength[i]),
          ),
      },
      ...groupings,
      ...view.columns
        .filter((column) => isKnown(column))
        .map((column): TableColumn => ({
          key: column.key,
          label: column.label,
          about: column.about,
          numeric: true,
          value: (i) => column.values[i],
          cell: (i) => short(column.values[i]),
        })),
    ];
  }
}
