/** The data of the page, decoded: what graftwork.report.explorer writes. */

import { makeNetwork, type Network } from "./inference/network";

export interface Column {
  key: string;
  label: string;
  about: string;
  values: Float64Array;
}

/** What the rows were like that a network was learned from. */
export interface Rows {
  /** Weight of the rows in each state, flat over the variables. */
  margins: Float64Array;
  /** Ends of the pairs whose tables are known, and these tables, one after the other. */
  pairs: Int32Array;
  tables: Float64Array;
  /** The largest difference between a probability and its frequency; null if not known. */
  error: number | null;
}

/** One network, or one set of pairs, that can be looked at. */
export interface Model {
  label: string;
  /** Ends of pair e at 2e and 2e + 1. */
  pairs: Int32Array;
  columns: Column[];
  /** What answers questions, if anything does. */
  network: Network | null;
  rows: Rows | null;
  /** The edge of the network that each pair is, -1 where it is none. */
  edgeOf: Int32Array;
  states: string[][];
  /** Of differences between groups: the models of the groups. */
  groups: number[];
  /** What the pairs are: edges of the network, or more than these. */
  noun: "edge" | "pair";
  /** Why there are no tests, where there are none. */
  untested: string;
  /** Of differences between groups: tests of all pairs together, of sums, of single pairs. */
  tests: GroupTest[];
}

export interface GroupTest {
  about: string;
  /** p-values, by theory and by permutation; null where there is none. */
  p: number | null;
  permuted: number | null;
  finding: string;
}

export interface Grouping {
  label: string;
  names: string[];
  of: Int32Array;
}

export interface NetworkView {
  kind: "network";
  title: string;
  names: string[];
  x: Float64Array;
  y: Float64Array;
  /** The median distance of a variable to the nearest other. */
  spacing: number;
  models: Model[];
  groupings: Grouping[];
  columns: Column[];
  words: string[];
}

export interface ChainView {
  kind: "chain";
  title: string;
  words: string[];
  labels: string[];
  attributes: string[];
  order: number;
  counts: Float64Array | null;
  votes: {
    attributes: Int32Array;
    previous: Int32Array;
    labels: Int32Array;
    weights: Float64Array;
  };
  pairs: Float64Array;
  triples: Float64Array | null;
}

export type View = NetworkView | ChainView;

interface Packed {
  f8?: string;
  f4?: string;
  i4?: string;
}

/* eslint-disable-next-line: JSON has no types of its own */
type Json = any;

function bytes(text: string): ArrayBuffer {
  const binary = atob(text);
  const out = new Uint8Array(binary.length);
  for (let k = 0; k < binary.length; k++) out[k] = binary.charCodeAt(k);
  return out.buffer;
}

/** Return packed numbers as they were, bit for bit, whatever the machine's byte order. */
export function floats(packed: Packed): Float64Array {
  const wide = packed.f8 !== undefined;
  const data = new DataView(bytes((wide ? packed.f8 : packed.f4) as string));
  const step = wide ? 8 : 4;
  return Float64Array.from({ length: data.byteLength / step }, (_, k) =>
    wide ? data.getFloat64(8 * k, true) : data.getFloat32(4 * k, true),
  );
}

export function integers(packed: Packed): Int32Array {
  const data = new DataView(bytes(packed.i4 as string));
  return Int32Array.from({ length: data.byteLength / 4 }, (_, k) => data.getInt32(4 * k, true));
}

export function decode(json: Json): View {
  if (json.format !== "graftwork-explorer" || json.version !== 1) {
    throw new Error("the data of this page are of a format that its program does not know");
  }
  return json.kind === "chain" ? decodeChain(json) : decodeNetwork(json);
}

function decodeNetwork(json: Json): NetworkView {
  const states: string[][] = json.states;
  const [x, y] = [floats(json.x), floats(json.y)];
  return {
    kind: "network",
    title: json.title,
    names: json.names,
    x,
    y,
    spacing: spacing(x, y),
    models: json.models.map((model: Json) => decodeModel(model, states)),
    groupings: json.groupings.map((group: Json) => ({ ...group, of: Int32Array.from(group.of) })),
    columns: json.columns.map(decodeColumn),
    words: json.words,
  };
}

/** Return the median distance of a point to the nearest other; infinite of fewer than two. */
export function spacing(x: Float64Array, y: Float64Array): number {
  const nearest = new Float64Array(x.length).fill(Infinity);
  for (let i = 0; i < x.length; i++) {
    for (let j = 0; j < i; j++) {
      const square = (x[i] - x[j]) ** 2 + (y[i] - y[j]) ** 2;
      if (square < nearest[i]) nearest[i] = square;
      if (square < nearest[j]) nearest[j] = square;
    }
  }
  return Math.sqrt(nearest.sort()[nearest.length >> 1] ?? Infinity);
}

function decodeColumn(json: Json): Column {
  return { ...json, values: floats(json.values) };
}

export function decodeModel(json: Json, states: string[][]): Model {
  const pairs = integers(json.pairs);
  const network =
    json.weights === undefined
      ? null
      : makeNetwork(
          Int32Array.from(states, (each) => each.length),
          integers(json.edges),
          floats(json.weights),
        );
  const places = new Map<string, number>();
  const edges = network?.edges ?? [];
  for (let e = 0; e < edges.length / 2; e++) places.set(`${edges[2 * e]},${edges[2 * e + 1]}`, e);
  const edgeOf = Int32Array.from(
    { length: pairs.length / 2 },
    (_, e) => places.get(`${pairs[2 * e]},${pairs[2 * e + 1]}`) ?? -1,
  );
  return {
    label: json.label,
    pairs,
    columns: json.columns.map(decodeColumn),
    network,
    rows: json.rows ? decodeRows(json.rows) : null,
    edgeOf,
    states,
    groups: json.groups ?? [],
    noun: json.noun ?? "edge",
    untested: json.untested ?? "its edges were not tested",
    tests: json.tests ?? [],
  };
}

function decodeRows(json: Json): Rows {
  return {
    margins: floats(json.margins),
    pairs: integers(json.pairs),
    tables: floats(json.tables),
    error: json.error,
  };
}

/** How often the states of a variable occur in the rows, or in those with one state of another. */
export function frequencies(
  rows: Rows,
  network: Network,
  node: number,
  given: { node: number; state: number } | null,
): Float64Array | null {
  const { cards, unaryOffsets } = network;
  if (!given) return shares(rows.margins.slice(unaryOffsets[node], unaryOffsets[node + 1]));
  if (given.node === node) {
    return Float64Array.from({ length: cards[node] }, (_, a) => +(a === given.state));
  }
  let start = 0;
  for (let e = 0; e < rows.pairs.length / 2; e++) {
    const [i, j] = [rows.pairs[2 * e], rows.pairs[2 * e + 1]];
    if (i === given.node && j === node) {
      const at = start + given.state * cards[j];
      return shares(rows.tables.slice(at, at + cards[j]));
    }
    if (j === given.node && i === node) {
      const column = (_: unknown, a: number) => rows.tables[start + a * cards[j] + given.state];
      return shares(Float64Array.from({ length: cards[i] }, column));
    }
    start += cards[i] * cards[j];
  }
  return null;
}

function shares(counts: Float64Array): Float64Array | null {
  const total = counts.reduce((sum, count) => sum + count, 0);
  return total > 0 ? counts.map((count) => count / total) : null;
}

function decodeChain(json: Json): ChainView {
  return {
    kind: "chain",
    title: json.title,
    words: json.words,
    labels: json.labels,
    attributes: json.attributes,
    order: json.order,
    counts: json.counts && floats(json.counts),
    votes: {
      attributes: integers(json.votes.attributes),
      previous: integers(json.votes.previous),
      labels: integers(json.votes.labels),
      weights: floats(json.votes.weights),
    },
    pairs: floats(json.pairs),
    triples: json.triples && floats(json.triples),
  };
}

/** Return the values of a column, undefined where a model has none of that name. */
export function valuesOf(columns: Column[], key: string): Float64Array | undefined {
  return columns.find((column) => column.key === key)?.values;
}
