/** The page of a chain: weights by label, and moves between labels as a matrix. */

import type { ChainView } from "./data";
import { button, fill, h, name, setVars } from "./dom";
import { amount, count, folded, signed } from "./format";
import { DataTable, sortRows, type TableColumn } from "./table";
import { Theme } from "./theme";

export class ChainApp {
  private label = -1;
  private before = -1;
  private text = "";
  private readonly table: DataTable;
  private readonly labels = h("ul", { class: "label-list" });
  private readonly matrix = h("div", { class: "matrix" });
  private readonly counted = h("span", { class: "counted", role: "status" });
  private order: "given" | "weight" = "given";

  constructor(
    private readonly view: ChainView,
    root: HTMLElement,
  ) {
    const theme = new Theme(() => undefined);
    this.read();
    this.table = new DataTable({
      caption: "Weights",
      columns: this.columns(),
      sort: "size",
      pageSize: 200,
    });
    const filter = h("input", {
      type: "search",
      id: "attribute-filter",
      placeholder: "Filter attributes",
      "aria-label": "Filter attributes",
      value: this.text,
      on: {
        input: () => {
          this.text = filter.value;
          this.fillTable();
          this.write();
        },
      },
    });
    fill(root, [
      h(
        "header",
        { class: "top" },
        h("h1", {}, name(view.title)),
        h(
          "p",
          { class: "size" },
          `${count(view.labels.length, "label")}, ${count(view.votes.weights.length, "weight")}`,
        ),
        h(
          "div",
          { class: "actions" },
          button("Print", () => window.print()),
          theme.button,
        ),
      ),
      h(
        "div",
        { class: "chain" },
        h("nav", { "aria-label": "Labels" }, h("h2", {}, "Labels"), this.labels),
        h(
          "section",
          { "aria-label": "Weights" },
          h("h2", {}, "Weights of attributes"),
          h(
            "p",
            { class: "words" },
            "A positive weight speaks for the label where the attribute is there, a negative one against it; attributes that are not listed say nothing.",
          ),
          h("div", { class: "table-bar" }, filter, this.counted),
          this.table.element,
        ),
        h(
          "section",
          { "aria-label": "Transitions" },
          h("h2", {}, "Transitions"),
          h("p", { class: "words" }, "From the label in the row to the label in the column."),
          this.matrix,
          ...view.words.map((text) => h("p", { class: "words" }, text)),
        ),
      ),
    ]);
    window.addEventListener("hashchange", () => {
      this.read();
      filter.value = this.text;
      this.render();
    });
    this.render();
  }

  private render(): void {
    this.drawLabels();
    this.table.setColumns(this.columns());
    this.fillTable();
    this.drawMatrix();
  }

  private columns(): TableColumn[] {
    const { votes, attributes, labels, order } = this.view;
    const word = (k: number) => (k < 0 ? "" : labels[k]);
    const top = votes.weights.reduce((most, w) => Math.max(most, Math.abs(w)), 1e-12);
    const columns: TableColumn[] = [
      {
        key: "attribute",
        label: "Attribute",
        ascending: true,
        value: (k) => attributes[votes.attributes[k]],
        cell: (k) => name(attributes[votes.attributes[k]]),
      },
      {
        key: "label",
        label: "Label",
        ascending: true,
        value: (k) => word(votes.labels[k]),
        cell: (k) => name(word(votes.labels[k])),
      },
      {
        key: "weight",
        label: "Weight",
        numeric: true,
        value: (k) => votes.weights[k],
        cell: (k) => signed(votes.weights[k]),
      },
      {
        key: "size",
        label: "Size",
        about: "The weight without its sign.",
        value: (k) => Math.abs(votes.weights[k]),
        cell: (k) =>
          h("span", {
            class: `weight-bar ${votes.weights[k] < 0 ? "below" : "above"}`,
            vars: { share: String(Math.abs(votes.weights[k]) / top) },
          }),
      },
    ];
    if (order === 2) {
      columns.splice(1, 0, {
        key: "previous",
        label: "After",
        ascending: true,
        value: (k) => word(votes.previous[k]),
        cell: (k) => name(word(votes.previous[k])),
      });
    }
    return columns;
  }

  private fillTable(): void {
    const { votes, attributes } = this.view;
    const wanted = folded(this.text.trim());
    const rows = [...votes.weights.keys()].filter(
      (k) =>
        (this.label < 0 || votes.labels[k] === this.label) &&
        (!wanted || folded(attributes[votes.attributes[k]]).includes(wanted)),
    );
    this.table.setRows(rows);
    this.counted.textContent = count(rows.length, "weight");
  }

  private drawLabels(): void {
    const { labels, votes, counts } = this.view;
    const weights = new Int32Array(labels.length);
    votes.labels.forEach((label) => weights[label]++);
    const item = (k: number, text: string, note: string) => {
      const made = h(
        "button",
        {
          type: "button",
          "aria-pressed": k === this.label,
          "data-label": k,
          on: {
            click: () => {
              this.label = k;
              this.write();
              this.drawLabels();
              this.fillTable();
            },
          },
        },
        name(text),
        h("span", { class: "pale" }, note),
      );
      return h("li", {}, made);
    };
    const note = (k: number) =>
      `${weights[k].toLocaleString("en-US")}${counts ? ` · ${amount(counts[k])} position${counts[k] === 1 ? "" : "s"}` : ""}`;
    fill(this.labels, [
      item(-1, "all labels", votes.labels.length.toLocaleString("en-US")),
      ...labels.map((text, k) => item(k, text, note(k))),
    ]);
  }

  /** The weight of label c after label g, in second order after label `before` as well. */
  private move(g: number, c: number): number {
    const n = this.view.labels.length;
    const triple =
      this.view.triples && this.before >= 0 ? this.view.triples[(this.before * n + g) * n + c] : 0;
    return this.before >= 0 ? triple : this.view.pairs[g * n + c];
  }

  private drawMatrix(): void {
    const { labels, triples } = this.view;
    const all = [...labels.keys()];
    const sum = (g: number) => all.reduce((total, c) => total + Math.abs(this.move(g, c)), 0);
    const order = this.order === "given" ? all : sortRows(all, sum, false);
    let top = 1e-12;
    for (const g of all) for (const c of all) top = Math.max(top, Math.abs(this.move(g, c)));
    const cell = (g: number, c: number) => {
      const value = this.move(g, c);
      const td = h(
        "td",
        {
          class: `number ${value < 0 ? "below" : "above"}`,
          "data-value": value,
          title: `${labels[g]} → ${labels[c]}: ${signed(value)}`,
        },
        value ? signed(value) : "·",
      );
      setVars(td, { share: (Math.abs(value) / top).toFixed(3) });
      return td;
    };
    const toggle = button(
      this.order === "given" ? "sort by weight" : "in the order given",
      () => {
        this.order = this.order === "given" ? "weight" : "given";
        this.drawMatrix();
      },
      { class: "link", id: "matrix-order" },
    );
    const select = h(
      "select",
      {
        id: "before",
        "aria-label": "The label before both",
        on: {
          change: () => {
            this.before = Number(select.value);
            this.write();
            this.drawMatrix();
          },
        },
      },
      h("option", { value: -1 }, "two labels"),
      ...labels.map((text, k) => h("option", { value: k }, `three labels, the first ${text}`)),
    );
    select.value = String(this.before);
    fill(this.matrix, [
      h("div", { class: "table-bar" }, toggle, triples && select),
      h(
        "div",
        { class: "scroll" },
        h(
          "table",
          { class: "pair-table" },
          h("caption", { class: "hidden" }, "Transition weights, from rows to columns"),
          h(
            "thead",
            {},
            h(
              "tr",
              {},
              h("th", { scope: "row", class: "corner" }, "from ↓ to →"),
              ...order.map((c) => h("th", { scope: "col" }, name(labels[c]))),
            ),
          ),
          h(
            "tbody",
            {},
            ...order.map((g) =>
              h(
                "tr",
                {},
                h("th", { scope: "row" }, name(labels[g])),
                ...order.map((c) => cell(g, c)),
              ),
            ),
          ),
        ),
      ),
    ]);
  }

  private write(): void {
    const parts = [
      this.label >= 0 ? `l=${this.label}` : "",
      this.before >= 0 ? `b=${this.before}` : "",
      this.text ? `t=${encodeURIComponent(this.text)}` : "",
    ].filter((part) => part);
    history.replaceState(
      null,
      "",
      parts.length ? `#${parts.join("&")}` : location.pathname + location.search,
    );
  }

  private read(): void {
    const given = new Map(
      location.hash
        .slice(1)
        .split("&")
        .map((part) => part.split("=") as [string, string]),
    );
    const number = (key: string) => {
      const value = Number(given.get(key) ?? -1);
      return Number.isInteger(value) && value < this.view.labels.length ? value : -1;
    };
    this.label = number("l");
    this.before = this.view.triples ? number("b") : -1;
    try {
      this.text = decodeURIComponent(given.get("t") ?? "");
    } catch {
      this.text = "";
    }
  }
}
