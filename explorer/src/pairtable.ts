/** The table of a pair: centred log-odds, or probabilities. */

import { h, name, setVars } from "./dom";
import { percent, signed } from "./format";

/** Cells of -Infinity count as so far below the smallest finite one when means are taken. */
const IMPOSSIBLE = 10;
/** Log-odds closer to zero than this are rounding errors, or as good as. */
const NOTHING = 5e-4;

/** Return a table less the means of its rows and columns; impossible cells stay so. */
export function doubleCentred(
  table: ArrayLike<number>,
  rows: number,
  columns: number,
): Float64Array {
  let floor = 0;
  for (let k = 0; k < table.length; k++) {
    if (table[k] > -Infinity) floor = Math.min(floor, table[k]);
  }
  const finite = Float64Array.from({ length: table.length }, (_, k) =>
    table[k] > -Infinity ? table[k] : floor - IMPOSSIBLE,
  );
  const byRow = new Float64Array(rows);
  const byColumn = new Float64Array(columns);
  let mean = 0;
  finite.forEach((value, k) => {
    byRow[Math.floor(k / columns)] += value / columns;
    byColumn[k % columns] += value / rows;
    mean += value / finite.length;
  });
  return finite.map((value, k) =>
    table[k] > -Infinity
      ? value - byRow[Math.floor(k / columns)] - byColumn[k % columns] + mean
      : -Infinity,
  );
}

export type Shown = "log-odds" | "joint" | "rows" | "columns";

/** Return joint probabilities, those of the second given the first, or of the first given it. */
export function conditional(joint: ArrayLike<number>, columns: number, shown: Shown): Float64Array {
  const out = Float64Array.from(joint);
  if (shown === "joint" || shown === "log-odds") return out;
  const key = (k: number) => (shown === "rows" ? Math.floor(k / columns) : k % columns);
  const sums = new Map<number, number>();
  out.forEach((value, k) => sums.set(key(k), (sums.get(key(k)) ?? 0) + value));
  return out.map((value, k) => value / (sums.get(key(k)) as number));
}

export interface PairTable {
  first: string;
  second: string;
  firstStates: string[];
  secondStates: string[];
  values: ArrayLike<number>;
  shown: Shown;
  caption: string;
}

/** Return a table of the states of two variables; colours say how large cells are. */
export function pairTable(given: PairTable): HTMLElement {
  const { firstStates, secondStates, values } = given;
  const odds = given.shown === "log-odds";
  let top = 1e-12;
  for (let k = 0; k < values.length; k++) {
    if (Number.isFinite(values[k])) top = Math.max(top, Math.abs(values[k]));
  }
  const cell = (k: number) => {
    const value = values[k];
    const text = odds
      ? value === -Infinity
        ? "impossible"
        : signed(Math.abs(value) < NOTHING ? 0 : value)
      : Number.isNaN(value)
        ? "–"
        : percent(value);
    const td = h("td", { class: "number", "data-value": value }, text);
    const share = Number.isFinite(value) ? Math.min(Math.abs(value) / top, 1) : value < 0 ? 1 : 0;
    setVars(td, { share: share.toFixed(3) });
    td.classList.add(odds ? (value < 0 ? "below" : "above") : "mass");
    return td;
  };
  const head = h(
    "tr",
    {},
    h("th", { scope: "row", class: "corner" }, name(given.first), " ↓"),
    ...secondStates.map((state) => h("th", { scope: "col" }, name(state))),
  );
  const rows = firstStates.map((state, a) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, name(state)),
      ...secondStates.map((_, b) => cell(a * secondStates.length + b)),
    ),
  );
  return h(
    "div",
    { class: "scroll" },
    h(
      "table",
      { class: "pair-table" },
      h("caption", {}, given.caption, " ", name(given.second), " →"),
      h("thead", {}, head),
      h("tbody", {}, ...rows),
    ),
  );
}
