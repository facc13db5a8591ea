/** The most probable joint state by search, where exact inference does not fit. */

import { adjacency, logWeight, type Adjacency, type Network } from "./network";

const RUNS = 12;
const SWEEPS = 40;
const MOST_CLIMBS = 200;

/**
 * Return the best joint state found: the starts given and annealed Gibbs draws, each climbed to
 * where no single variable can improve it. Null if all are impossible.
 */
export function searchMode(net: Network, starts: Int32Array[]): Int32Array | null {
  const links = adjacency(net.cards.length, net.edges);
  const random = mulberry(1);
  const drawn = Array.from({ length: RUNS }, () => anneal(net, links, random));
  let best: Int32Array | null = null;
  let most = -Infinity;
  for (const start of [...starts, ...drawn]) {
    const codes = climb(net, links, start.slice());
    const weight = logWeight(net, codes);
    if (weight > most) [best, most] = [codes, weight];
  }
  return best;
}

/** Fill out with the log weights of a variable's states given all others. */
function logits(net: Network, links: Adjacency, codes: Int32Array, i: number, out: Float64Array) {
  const { cards, weights, unaryOffsets, edgeOffsets } = net;
  for (let a = 0; a < cards[i]; a++) out[a] = weights[unaryOffsets[i] + a];
  for (let t = links.indptr[i]; t < links.indptr[i + 1]; t++) {
    const j = links.neighbours[t];
    const start = edgeOffsets[links.edges[t]] + (i < j ? codes[j] : codes[j] * cards[i]);
    const stride = i < j ? cards[j] : 1;
    for (let a = 0; a < cards[i]; a++) out[a] += weights[start + a * stride];
  }
}

function climb(net: Network, links: Adjacency, codes: Int32Array): Int32Array {
  const room = roomOf(net);
  for (let round = 0; round < MOST_CLIMBS; round++) {
    let moved = false;
    for (let i = 0; i < codes.length; i++) {
      logits(net, links, codes, i, room);
      let best = codes[i];
      for (let a = 0; a < net.cards[i]; a++) if (room[a] > room[best]) best = a;
      if (best !== codes[i]) moved = true;
      codes[i] = best;
    }
    if (!moved) break;
  }
  return codes;
}

function anneal(net: Network, links: Adjacency, random: () => number): Int32Array {
  const codes = Int32Array.from(net.cards, (states) => Math.floor(random() * states));
  const room = roomOf(net);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const sharpness = 0.3 + (4 * sweep) / SWEEPS;
    for (let i = 0; i < codes.length; i++) {
      logits(net, links, codes, i, room);
      codes[i] = draw(room, net.cards[i], sharpness, random);
    }
  }
  return codes;
}

function draw(logs: Float64Array, states: number, sharpness: number, random: () => number): number {
  let peak = -Infinity;
  for (let a = 0; a < states; a++) peak = Math.max(peak, logs[a]);
  if (!(peak > -Infinity)) return Math.floor(random() * states);
  let total = 0;
  for (let a = 0; a < states; a++) total += logs[a] = Math.exp(sharpness * (logs[a] - peak));
  let left = random() * total;
  for (let a = 0; a < states - 1; a++) {
    left -= logs[a];
    if (left < 0) return a;
  }
  return states - 1;
}

function roomOf(net: Network): Float64Array {
  return new Float64Array(net.cards.reduce((most, states) => Math.max(most, states), 1));
}

/** A small generator of uniform numbers (mulberry32), so that answers repeat. */
export function mulberry(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
