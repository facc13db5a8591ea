/** Random networks and their answers by enumeration, for tests. */

import { logWeight, makeNetwork, type Evidence, type Network } from "../src/inference/network";

export function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 4294967296;
  };
}

export interface Shape {
  variables: number;
  edges: number;
  mostStates: number;
  scale: number;
  /** The share of cells that are impossible. */
  barred: number;
}

export function randomNetwork(random: () => number, shape: Shape): Network {
  const cards = Int32Array.from(
    { length: shape.variables },
    () => 1 + Math.floor(random() * shape.mostStates),
  );
  const pairs = new Set<string>();
  for (let k = 0; k < shape.edges; k++) {
    const i = Math.floor(random() * shape.variables);
    const j = Math.floor(random() * shape.variables);
    if (i !== j) pairs.add(`${Math.min(i, j)},${Math.max(i, j)}`);
  }
  const edges = Int32Array.from([...pairs].flatMap((pair) => pair.split(",").map(Number)));
  let size = cards.reduce((a, b) => a + b, 0);
  for (let e = 0; e < edges.length; e += 2) size += cards[edges[e]] * cards[edges[e + 1]];
  const weights = Float64Array.from({ length: size }, () =>
    random() < shape.barred ? -Infinity : shape.scale * (2 * random() - 1),
  );
  return makeNetwork(cards, edges, weights);
}

export interface Enumerated {
  values: Float64Array;
  pairs: Float64Array[];
  best: number;
  total: number;
}

/** Return marginals, pair marginals and the largest log weight by going through all joint states. */
export function enumerate(net: Network, evidence: Evidence): Enumerated {
  const n = net.cards.length;
  const values = new Float64Array(net.unaryOffsets[n]);
  const pairs = Array.from(
    { length: net.edges.length / 2 },
    (_, e) => new Float64Array(net.edgeOffsets[e + 1] - net.edgeOffsets[e]),
  );
  const codes = new Int32Array(n);
  let best = -Infinity;
  let total = 0;
  for (;;) {
    let weight = logWeight(net, codes);
    for (const [i, likelihood] of evidence) weight += Math.log(likelihood[codes[i]]);
    best = Math.max(best, weight);
    const share = Math.exp(weight);
    total += share;
    for (let i = 0; i < n; i++) values[net.unaryOffsets[i] + codes[i]] += share;
    pairs.forEach((table, e) => {
      const [i, j] = [net.edges[2 * e], net.edges[2 * e + 1]];
      table[codes[i] * net.cards[j] + codes[j]] += share;
    });
    let i = n - 1;
    while (i >= 0 && ++codes[i] === net.cards[i]) codes[i--] = 0;
    if (i < 0) break;
  }
  const scaled = (table: Float64Array) => table.map((value) => value / total);
  return { values: scaled(values), pairs: pairs.map(scaled), best, total };
}

export function largestGap(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let most = a.length === b.length ? 0 : Infinity;
  for (let k = 0; k < a.length; k++) most = Math.max(most, Math.abs(a[k] - b[k]));
  return most;
}
