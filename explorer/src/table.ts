/** A table that sorts by its headings and shows a page of rows at a time. */

import { button, fill, h, type Child } from "./dom";

export interface TableColumn {
  key: string;
  label: string;
  about?: string;
  /** What rows are sorted by; NaN comes last either way. */
  value: (row: number) => number | string;
  cell: (row: number) => Child;
  numeric?: boolean;
  /** Whether the first click sorts the smallest first; texts and p-values do. */
  ascending?: boolean;
}

export interface TableOptions {
  caption: string;
  columns: TableColumn[];
  /** The column of the start. */
  sort: string;
  select?: (row: number) => void;
  pageSize?: number;
}

const PAGE = 100;

/** Return rows in the order of their values; equal ones stay in order, NaN comes last. */
export function sortRows(
  rows: readonly number[],
  value: (row: number) => number | string,
  ascending: boolean,
): number[] {
  const collator = new Intl.Collator("en", { numeric: true });
  const turn = ascending ? 1 : -1;
  const keyed = rows.map((row) => ({ row, key: value(row) }));
  keyed.sort((a, b) => {
    if (typeof a.key === "string" || typeof b.key === "string") {
      return turn * collator.compare(String(a.key), String(b.key));
    }
    const [first, second] = [Number.isNaN(a.key), Number.isNaN(b.key)];
    if (first || second) return +first - +second;
    return a.key === b.key ? 0 : turn * (a.key < b.key ? -1 : 1);
  });
  return keyed.map(({ row }) => row);
}

export class DataTable {
  readonly element: HTMLElement;
  private rows: number[] = [];
  private sorted: number[] = [];
  private columns: TableColumn[];
  private sortKey: string;
  private ascending: boolean;
  private page = 0;
  private selected = -1;
  private readonly head = h("thead");
  private readonly body = h("tbody");
  private readonly scroll: HTMLElement;
  private readonly pager = h("div", { class: "pager" });

  constructor(private readonly options: TableOptions) {
    this.columns = options.columns;
    this.sortKey = options.sort;
    this.ascending = this.column(options.sort)?.ascending ?? false;
    const table = h(
      "table",
      { class: "data" },
      h("caption", { class: "hidden" }, options.caption),
      this.head,
      this.body,
    );
    this.scroll = h("div", { class: "scroll", on: { scroll: () => this.measure() } }, table);
    this.element = h(
      "div",
      { class: "table" },
      h("p", { class: "beyond" }, "more columns: scroll →"),
      this.scroll,
      this.pager,
    );
    const observer = new ResizeObserver(() => this.measure());
    observer.observe(this.scroll);
    observer.observe(table);
    this.body.addEventListener("keydown", (event) => this.key(event));
    this.drawHead();
  }

  setColumns(columns: TableColumn[]): void {
    this.columns = columns;
    if (!this.column(this.sortKey)) this.sortKey = columns[0].key;
    this.drawHead();
    this.order();
  }

  setRows(rows: number[]): void {
    this.rows = rows;
    this.page = 0;
    this.order();
  }

  /** Mark a row, and turn to its page if asked to. */
  setSelected(row: number, turn: boolean): void {
    this.selected = row;
    const place = this.sorted.indexOf(row);
    if (turn && place >= 0) this.page = Math.floor(place / this.pageSize);
    this.drawBody();
    if (turn) this.body.querySelector("tr.selected")?.scrollIntoView({ block: "nearest" });
  }

  sortBy(key: string, ascending: boolean): void {
    this.sortKey = key;
    this.ascending = ascending;
    this.page = 0;
    this.drawHead();
    this.order();
  }

  /** The rows in the order in which they are shown. */
  get order_(): readonly number[] {
    return this.sorted;
  }

  /** Say whether there are columns beyond the edge. */
  private measure(): void {
    const { scrollWidth, clientWidth, scrollLeft } = this.scroll;
    this.element.classList.toggle("wider", scrollWidth > clientWidth + 1);
    const end = Math.abs(scrollLeft) + clientWidth >= scrollWidth - 2;
    this.element.classList.toggle("at-end", end);
  }

  private get pageSize(): number {
    return this.options.pageSize ?? PAGE;
  }

  private column(key: string): TableColumn | undefined {
    return this.columns.find((column) => column.key === key);
  }

  private order(): void {
    const column = this.column(this.sortKey);
    this.sorted = column ? sortRows(this.rows, column.value, this.ascending) : this.rows;
    this.drawBody();
  }

  private drawHead(): void {
    const focused = this.head.contains(document.activeElement);
    const cells = this.columns.map((column) => {
      const own = column.key === this.sortKey;
      const sort = !own ? "none" : this.ascending ? "ascending" : "descending";
      const arrow = !own ? "" : this.ascending ? "\u00a0↑" : "\u00a0↓";
      const act = () =>
        this.sortBy(column.key, own ? !this.ascending : (column.ascending ?? false));
      return h(
        "th",
        {
          scope: "col",
          "aria-sort": sort,
          class: column.numeric ? "number" : "",
          title: column.about,
        },
        h(
          "button",
          { type: "button", "data-sort": column.key, on: { click: act } },
          column.label,
          h("span", { "aria-hidden": "true" }, arrow),
        ),
      );
    });
    fill(this.head, [h("tr", {}, ...cells)]);
    if (focused) {
      this.head.querySelector<HTMLElement>(`[data-sort="${CSS.escape(this.sortKey)}"]`)?.focus();
    }
  }

  private drawBody(): void {
    const size = this.pageSize;
    const pages = Math.max(1, Math.ceil(this.sorted.length / size));
    this.page = Math.min(this.page, pages - 1);
    const shown = this.sorted.slice(this.page * size, (this.page + 1) * size);
    fill(
      this.body,
      shown.map((row) => this.row(row)),
    );
    const first = this.page * size;
    const total = this.sorted.length.toLocaleString("en-US");
    const range = `${(first + 1).toLocaleString("en-US")}–${(first + shown.length).toLocaleString("en-US")} of ${total}`;
    const turn = (to: number) => {
      this.page = to;
      this.drawBody();
      this.body.querySelector<HTMLElement>("button")?.focus();
    };
    fill(
      this.pager,
      pages === 1
        ? [this.sorted.length ? null : h("p", { class: "empty" }, "Nothing passes the filters.")]
        : [
            button("Previous", () => turn(this.page - 1), { disabled: this.page === 0 }),
            h("span", {}, range),
            button("Next", () => turn(this.page + 1), { disabled: this.page === pages - 1 }),
          ],
    );
  }

  private row(row: number): HTMLElement {
    const { select } = this.options;
    const chosen = row === this.selected;
    const cells = this.columns.map((column, k) => {
      const content = column.cell(row);
      if (k > 0) return h("td", { class: column.numeric ? "number" : "" }, content);
      return h(
        "th",
        { scope: "row" },
        select ? h("button", { type: "button", "aria-pressed": chosen }, content) : content,
      );
    });
    return h(
      "tr",
      {
        class: `${select ? "can-select" : ""}${chosen ? " selected" : ""}`,
        "data-row": row,
        on: select ? { click: () => select(row) } : {},
      },
      ...cells,
    );
  }

  /** Arrow keys go from row to row. */
  private key(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const own = (event.target as HTMLElement).closest("tr");
    if (!step || !own) return;
    const next = step > 0 ? own.nextElementSibling : own.previousElementSibling;
    const target = next?.querySelector<HTMLElement>("button");
    if (target) {
      event.preventDefault();
      target.focus();
    }
  }
}
