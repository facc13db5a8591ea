/** A pairwise network as flat arrays, laid out as graftwork.inference.layout has it. */

/** Log-potentials: the unaries of all variables, then the row-major tables of all edges. */
export interface Network {
  cards: Int32Array;
  /** Ends of edge e at 2e and 2e + 1, the smaller first. */
  edges: Int32Array;
  weights: Float64Array;
  unaryOffsets: Int32Array;
  edgeOffsets: Int32Array;
}

/** Likelihood weights of the states of observed variables; one positive weight is a hard observation. */
export type Evidence = ReadonlyMap<number, ArrayLike<number>>;

export function makeNetwork(cards: Int32Array, edges: Int32Array, weights: Float64Array): Network {
  const n = cards.length;
  const m = edges.length / 2;
  const unaryOffsets = new Int32Array(n + 1);
  for (let i = 0; i < n; i++) unaryOffsets[i + 1] = unaryOffsets[i] + cards[i];
  const edgeOffsets = new Int32Array(m + 1);
  edgeOffsets[0] = unaryOffsets[n];
  for (let e = 0; e < m; e++) {
    edgeOffsets[e + 1] = edgeOffsets[e] + cards[edges[2 * e]] * cards[edges[2 * e + 1]];
  }
  if (weights.length !== edgeOffsets[m]) {
    throw new Error(`${weights.length} weights, but the network needs ${edgeOffsets[m]}`);
  }
  return { cards, edges, weights, unaryOffsets, edgeOffsets };
}

/** What is left of a network when some variables are observed. */
export interface Reduced {
  network: Network;
  /** Old numbers of the variables and edges that are left. */
  free: Int32Array;
  kept: Int32Array;
  /** The observed state of each variable, -1 where it is free. */
  codes: Int32Array;
  /** Log weight of the observed variables among themselves. */
  constant: number;
}

/**
 * Return the network given evidence: observed variables are gone, their tables folded into the
 * unaries of their neighbours; likelihood weights of other variables are added to their unaries.
 */
export function observe(net: Network, evidence: Evidence): Reduced {
  const { cards, edges, weights, unaryOffsets, edgeOffsets } = net;
  const n = cards.length;
  const codes = new Int32Array(n).fill(-1);
  const unary = weights.slice(0, unaryOffsets[n]);
  for (const [i, likelihood] of evidence) {
    const states = positiveStates(likelihood);
    if (states.length === 1) codes[i] = states[0];
    for (let a = 0; a < cards[i]; a++) unary[unaryOffsets[i] + a] += Math.log(likelihood[a]);
  }
  const number = new Int32Array(n).fill(-1);
  const free = Int32Array.from(indices(n, (i) => codes[i] < 0));
  free.forEach((i, k) => (number[i] = k));
  let constant = 0;
  for (let i = 0; i < n; i++) if (codes[i] >= 0) constant += unary[unaryOffsets[i] + codes[i]];
  const kept: number[] = [];
  for (let e = 0; e < edges.length / 2; e++) {
    const [i, j] = [edges[2 * e], edges[2 * e + 1]];
    const [a, b, s] = [codes[i], codes[j], cards[j]];
    if (a < 0 && b < 0) kept.push(e);
    else if (a >= 0 && b >= 0) constant += weights[edgeOffsets[e] + a * s + b];
    else if (a >= 0) {
      for (let x = 0; x < s; x++) unary[unaryOffsets[j] + x] += weights[edgeOffsets[e] + a * s + x];
    } else {
      for (let x = 0; x < cards[i]; x++) {
        unary[unaryOffsets[i] + x] += weights[edgeOffsets[e] + x * s + b];
      }
    }
  }
  const parts = [
    ...Array.from(free, (i) => unary.subarray(unaryOffsets[i], unaryOffsets[i + 1])),
    ...kept.map((e) => weights.subarray(edgeOffsets[e], edgeOffsets[e + 1])),
  ];
  const network = makeNetwork(
    Int32Array.from(free, (i) => cards[i]),
    Int32Array.from(kept.flatMap((e) => [number[edges[2 * e]], number[edges[2 * e + 1]]])),
    concatenate(parts),
  );
  return { network, free, kept: Int32Array.from(kept), codes, constant };
}

export function positiveStates(likelihood: ArrayLike<number>): number[] {
  return [...indices(likelihood.length, (a) => likelihood[a] > 0)];
}

function* indices(n: number, test: (i: number) => boolean): Generator<number> {
  for (let i = 0; i < n; i++) if (test(i)) yield i;
}

function concatenate(parts: Float64Array[]): Float64Array {
  const out = new Float64Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

/** Return the log weight of a joint state. */
export function logWeight(net: Network, codes: ArrayLike<number>): number {
  const { cards, edges, weights, unaryOffsets, edgeOffsets } = net;
  let total = 0;
  for (let i = 0; i < cards.length; i++) total += weights[unaryOffsets[i] + codes[i]];
  for (let e = 0; e < edges.length / 2; e++) {
    const [i, j] = [edges[2 * e], edges[2 * e + 1]];
    total += weights[edgeOffsets[e] + codes[i] * cards[j] + codes[j]];
  }
  return total;
}

/** The edges at each variable: slots indptr[i] to indptr[i + 1] of the neighbours and edges. */
export interface Adjacency {
  indptr: Int32Array;
  neighbours: Int32Array;
  edges: Int32Array;
}

/** Return the edges at each variable, by the number of the neighbour. */
export function adjacency(n: number, edges: Int32Array): Adjacency {
  const m = edges.length / 2;
  const indptr = new Int32Array(n + 1);
  for (const i of edges) indptr[i + 1]++;
  for (let i = 0; i < n; i++) indptr[i + 1] += indptr[i];
  const next = indptr.slice(0, n);
  const order = Array.from({ length: m }, (_, e) => e);
  const byEnd = (end: number) => [...order].sort((a, b) => edges[2 * a + end] - edges[2 * b + end]);
  const neighbours = new Int32Array(2 * m);
  const incident = new Int32Array(2 * m);
  const put = (e: number, own: number, other: number) => {
    const slot = next[edges[2 * e + own]]++;
    neighbours[slot] = edges[2 * e + other];
    incident[slot] = e;
  };
  // Smaller neighbours (those that are first ends) come before larger ones.
  for (const e of byEnd(0)) put(e, 1, 0);
  for (const e of byEnd(1)) put(e, 0, 1);
  return { indptr, neighbours, edges: incident };
}
