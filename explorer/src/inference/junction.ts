/**
 * Exact inference: one table for each variable and those it is joined to when it is eliminated.
 *
 * Tables go up in logarithms, so that nothing underflows, and come down as probabilities. Cell
 * (x, s) of the table of variable v is at x * |S| + s, s being the cell of its separator, whose
 * last variable varies fastest.
 */

import type { Elimination } from "./elimination";
import type { Network } from "./network";

interface Step {
  variable: number;
  states: number;
  /** Cells of the separator. */
  width: number;
  parent: number;
  /** Variables of the whole clique, the own one first, their states and strides in the table. */
  clique: number[];
  sizes: number[];
  strides: number[];
  /** Strides of the parent's clique in this separator; 0 for variables that are not in it. */
  toSeparator: number[];
}

export interface Plan {
  steps: Step[];
  /** The step that owns each edge's table: that of the end eliminated first. */
  owners: Int32Array;
}

export interface Marginals {
  /** Probabilities of all states of all variables, laid out like the unaries. */
  values: Float64Array;
  logPartition: number;
  /** Joint probabilities of the edges asked for, row-major. */
  pairs: Map<number, Float64Array>;
}

/** Return where every table lies and how cells of neighbours in the tree correspond. */
export function compile(net: Network, elimination: Elimination): Plan {
  const { cards } = net;
  const position = new Int32Array(cards.length);
  elimination.order.forEach((v, k) => (position[v] = k));
  const steps: Step[] = elimination.order.map((v, k) => {
    const separator = elimination.separators[k];
    const inner = stridesOf(separator.map((u) => cards[u]));
    const width = separator.reduce((size, u) => size * cards[u], 1);
    return {
      variable: v,
      states: cards[v],
      width,
      parent: separator.length ? position[separator[0]] : -1,
      clique: [v, ...separator],
      sizes: [cards[v], ...separator.map((u) => cards[u])],
      strides: [width, ...inner],
      toSeparator: [],
    };
  });
  for (const step of steps) {
    if (step.parent < 0) continue;
    step.toSeparator = steps[step.parent].clique.map((u) => {
      const place = step.clique.indexOf(u, 1);
      return place < 0 ? 0 : step.strides[place];
    });
  }
  const owners = new Int32Array(net.edges.length / 2);
  for (let e = 0; e < owners.length; e++) {
    owners[e] = Math.min(position[net.edges[2 * e]], position[net.edges[2 * e + 1]]);
  }
  return { steps, owners };
}

function stridesOf(sizes: number[]): number[] {
  const strides = new Array<number>(sizes.length);
  let stride = 1;
  for (let k = sizes.length - 1; k >= 0; k--) {
    strides[k] = stride;
    stride *= sizes[k];
  }
  return strides;
}

/** Return where each cell of a table lies in another, which has strides of its own. */
function places(sizes: number[], strides: number[]): Int32Array {
  const out = new Int32Array(sizes.reduce((size, s) => size * s, 1));
  const last = sizes.length - 1;
  const digits = new Int32Array(sizes.length);
  const inner = sizes[last];
  const step = strides[last];
  let other = 0;
  for (let cell = 0; cell < out.length; cell += inner) {
    for (let x = 0; x < inner; x++) out[cell + x] = other + x * step;
    for (let k = last - 1; k >= 0; k--) {
      other += strides[k];
      if (++digits[k] < sizes[k]) break;
      other -= strides[k] * sizes[k];
      digits[k] = 0;
    }
  }
  return out;
}

/** Add to each cell of a table what lies in its place of another. */
function addFrom(table: Float64Array, place: Int32Array, other: Float64Array, start = 0): void {
  for (let cell = 0; cell < table.length; cell++) table[cell] += other[start + place[cell]];
}

/** Add each cell of a table to what lies in its place of another. */
function addTo(table: Float64Array, place: Int32Array, other: Float64Array): void {
  for (let cell = 0; cell < table.length; cell++) other[place[cell]] += table[cell];
}

/** Return the tables with unaries and edges, before any message. */
function loadTables(net: Network, plan: Plan): Float64Array[] {
  const { cards, edges, weights, unaryOffsets, edgeOffsets } = net;
  const tables = plan.steps.map((step) => {
    const table = new Float64Array(step.states * step.width);
    for (let x = 0; x < step.states; x++) {
      const value = weights[unaryOffsets[step.variable] + x];
      table.fill(value, x * step.width, (x + 1) * step.width);
    }
    return table;
  });
  plan.owners.forEach((owner, e) => {
    const step = plan.steps[owner];
    const [i, j] = [edges[2 * e], edges[2 * e + 1]];
    const place = places(step.sizes, edgeStrides(step, i, j, cards[j]));
    addFrom(tables[owner], place, weights, edgeOffsets[e]);
  });
  return tables;
}

/** Return strides of a clique's variables in the table of the edge i - j, row-major. */
function edgeStrides(step: Step, i: number, j: number, states: number): number[] {
  return step.clique.map((u) => (u === i ? states : u === j ? 1 : 0));
}

/** Return the marginals of all variables and of the pairs of some edges; null if none is possible. */
export function marginals(net: Network, plan: Plan, pairs: Iterable<number>): Marginals | null {
  const { steps } = plan;
  const tables = loadTables(net, plan);
  let logPartition = 0;
  for (const [k, step] of steps.entries()) {
    const message = condition(tables[k], step);
    if (step.parent < 0) logPartition += message[0];
    else addMessage(tables[step.parent], steps[step.parent], step, message);
  }
  if (!(logPartition > -Infinity)) return null;
  const values = new Float64Array(net.unaryOffsets[net.cards.length]);
  for (let k = steps.length - 1; k >= 0; k--) {
    const step = steps[k];
    const table = tables[k];
    if (step.parent >= 0) {
      const above = new Float64Array(step.width);
      addTo(tables[step.parent], places(steps[step.parent].sizes, step.toSeparator), above);
      for (let x = 0; x < step.states; x++) {
        for (let s = 0; s < step.width; s++) table[x * step.width + s] *= above[s];
      }
    }
    for (let x = 0; x < step.states; x++) {
      let total = 0;
      for (let s = 0; s < step.width; s++) total += table[x * step.width + s];
      values[net.unaryOffsets[step.variable] + x] = total;
    }
  }
  const found = new Map<number, Float64Array>();
  for (const e of pairs) found.set(e, pairMarginal(net, plan, tables, e));
  return { values, logPartition, pairs: found };
}

/** Turn a table of logs into p(own state | separator); return the logs of what was summed out. */
function condition(table: Float64Array, step: Step): Float64Array {
  const { states, width } = step;
  const message = new Float64Array(width).fill(-Infinity);
  for (let x = 0; x < states; x++) {
    for (let s = 0; s < width; s++) {
      if (table[x * width + s] > message[s]) message[s] = table[x * width + s];
    }
  }
  const total = new Float64Array(width);
  for (let x = 0; x < states; x++) {
    for (let s = 0; s < width; s++) {
      const at = x * width + s;
      table[at] = message[s] > -Infinity ? Math.exp(table[at] - message[s]) : 0;
      total[s] += table[at];
    }
  }
  for (let s = 0; s < width; s++) if (total[s] > 0) message[s] += Math.log(total[s]);
  for (let x = 0; x < states; x++) {
    for (let s = 0; s < width; s++) if (total[s] > 0) table[x * width + s] /= total[s];
  }
  return message;
}

function addMessage(table: Float64Array, parent: Step, step: Step, message: Float64Array): void {
  addFrom(table, places(parent.sizes, step.toSeparator), message);
}

function pairMarginal(net: Network, plan: Plan, tables: Float64Array[], e: number): Float64Array {
  const step = plan.steps[plan.owners[e]];
  const [i, j] = [net.edges[2 * e], net.edges[2 * e + 1]];
  const out = new Float64Array(net.cards[i] * net.cards[j]);
  addTo(tables[plan.owners[e]], places(step.sizes, edgeStrides(step, i, j, net.cards[j])), out);
  return out;
}

/** Return a most probable joint state; null if none is possible. */
export function mostProbable(net: Network, plan: Plan): Int32Array | null {
  const { steps } = plan;
  const tables = loadTables(net, plan);
  for (const [k, step] of steps.entries()) {
    const table = tables[k];
    const message = new Float64Array(step.width).fill(-Infinity);
    for (let x = 0; x < step.states; x++) {
      for (let s = 0; s < step.width; s++) {
        if (table[x * step.width + s] > message[s]) message[s] = table[x * step.width + s];
      }
    }
    if (step.parent >= 0) addMessage(tables[step.parent], steps[step.parent], step, message);
    else if (!(message[0] > -Infinity)) return null;
  }
  const codes = new Int32Array(net.cards.length);
  for (let k = steps.length - 1; k >= 0; k--) {
    const step = steps[k];
    let s = 0;
    for (let c = 1; c < step.clique.length; c++) s += codes[step.clique[c]] * step.strides[c];
    let best = 0;
    for (let x = 1; x < step.states; x++) {
      if (tables[k][x * step.width + s] > tables[k][best * step.width + s]) best = x;
    }
    codes[step.variable] = best;
  }
  return codes;
}
