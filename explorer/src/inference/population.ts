/**
 * Sampling by a population, as graftwork.inference.population does it: joint states of independent
 * variables are led to the network while its tables grow; at each step draws gain or lose weight, are
 * resampled by it within their island, and move by Gibbs sampling. Islands tell the standard error.
 */

import { adjacency, type Adjacency, type Network } from "./network";
import { mulberry } from "./search";

const ISLANDS = 16;
/** Draws, and additions that a sweep of all of them should take: seconds for the whole. */
const [LEAST_DRAWS, MOST_DRAWS, MOST_ADDITIONS] = [64 * ISLANDS, 256 * ISLANDS, 2 ** 22];
/** Steps as in Python: the largest and the smallest, and the share of draws to be left in effect. */
const [LONGEST, SHORTEST, ENOUGH] = [0.05, 0.004, 0.6];
/** Sweeps of Gibbs sampling while the tables grow, spread evenly. */
const SWEEPS = 800;

/** Below this a sum of products may have lost terms to underflow, and is redone in logs. */
const TINY = 1e-200;

export interface Sampled {
  values: Float64Array;
  /** The largest standard error of a probability. */
  noise: number;
  pairs: Map<number, Float64Array>;
}

/** Return how many additions a sweep of one draw takes, about. */
function additionsOf(net: Network): number {
  let additions = 2 * net.unaryOffsets[net.cards.length];
  for (const i of net.edges) additions += net.cards[i];
  return additions;
}

/** Return marginals as draws tell them; null if no draw is possible, or the network is too large. */
export function sample(net: Network, pairs: Iterable<number>): Sampled | null {
  if (LEAST_DRAWS * additionsOf(net) > 2 * MOST_ADDITIONS) return null;
  const population = new Population(net);
  return population.grow() ? population.read(pairs) : null;
}

class Population {
  private readonly links: Adjacency;
  private readonly random = mulberry(1);
  /** Draws in each island, and of all. */
  private readonly each: number;
  private readonly size: number;
  /** The state of each variable in each draw, draw after draw. */
  private codes: Uint16Array;
  private readonly logIslands = new Float64Array(ISLANDS);
  private readonly room: Float64Array;

  constructor(private readonly net: Network) {
    const n = net.cards.length;
    this.links = adjacency(n, net.edges);
    const wanted = Math.floor(MOST_ADDITIONS / Math.max(1, additionsOf(net)));
    const draws = Math.min(Math.max(wanted, LEAST_DRAWS), MOST_DRAWS);
    this.each = Math.floor(draws / ISLANDS);
    this.size = this.each * ISLANDS;
    this.codes = new Uint16Array(this.size * n);
    this.room = new Float64Array(net.cards.reduce((most, states) => Math.max(most, states), 1));
  }

  /** Lead the population to the network; false if no draw is possible any more. */
  grow(): boolean {
    this.move(0, 1);
    let grown = this.net.edges.length ? 0 : 1;
    while (grown < 1) {
      const rise = this.rises();
      let step = Math.min(LONGEST, 1 - grown);
      while (step > SHORTEST && left(rise, step) < ENOUGH) step = Math.max(SHORTEST, 0.7 * step);
      if (1 - grown - step < 1e-9) step = 1 - grown;
      grown = step === 1 - grown ? 1 : grown + step;
      if (!this.follow(rise, step)) return false;
      this.move(grown, Math.max(1, Math.round(SWEEPS * step)));
    }
    return true;
  }

  /** Return the log weight that each draw gains while all tables grow from nothing. */
  private rises(): Float64Array {
    const { cards, edges, weights, edgeOffsets } = this.net;
    const n = cards.length;
    const out = new Float64Array(this.size);
    for (let d = 0; d < this.size; d++) {
      for (let e = 0; e < edges.length / 2; e++) {
        const [i, j] = [edges[2 * e], edges[2 * e + 1]];
        out[d] +=
          weights[edgeOffsets[e] + this.codes[d * n + i] * cards[j] + this.codes[d * n + j]];
      }
    }
    return out;
  }

  /** Resample each island by a share of what its draws gain. */
  private follow(rise: Float64Array, step: number): boolean {
    const n = this.net.cards.length;
    const top = step * largest(rise);
    if (!(top > -Infinity)) return false;
    const relative = rise.map((value) => Math.exp(step * value - top));
    const totals = Array.from({ length: ISLANDS }, (_, k) =>
      relative.subarray(k * this.each, (k + 1) * this.each).reduce((sum, w) => sum + w, 0),
    );
    const next = new Uint16Array(this.codes.length);
    for (let k = 0; k < ISLANDS; k++) {
      // Where nothing is possible the island goes on as a copy that counts nothing.
      const own = totals[k] > 0 ? k : totals.indexOf(Math.max(...totals));
      const gap = totals[own] / this.each;
      let [at, reached] = [own * this.each, relative[own * this.each]];
      const start = this.random();
      for (let t = 0; t < this.each; t++) {
        while (reached <= (t + start) * gap && at < (own + 1) * this.each - 1) {
          reached += relative[++at];
        }
        next.set(this.codes.subarray(at * n, (at + 1) * n), (k * this.each + t) * n);
      }
      this.logIslands[k] += top + Math.log(totals[k] / this.each);
    }
    this.codes = next;
    return true;
  }

  /** Let all draws move by sweeps of Gibbs sampling, with tables at a share of their size. */
  private move(grown: number, sweeps: number): void {
    const { net, random, room, codes } = this;
    const n = net.cards.length;
    const factors = factorsOf(net, grown);
    for (let d = 0; d < this.size; d++) {
      for (let sweep = 0; sweep < sweeps; sweep++) {
        for (let i = 0; i < n; i++) {
          const total = this.conditional(d, i, grown, factors);
          if (!(total > 0)) continue;
          let rest = random() * total;
          let state = 0;
          while (state < net.cards[i] - 1 && (rest -= room[state]) >= 0) state++;
          while (room[state] === 0) state--;
          codes[d * n + i] = state;
        }
      }
    }
  }

  /** Fill the room with the weights of a variable's states given the others; return their sum. */
  private conditional(d: number, i: number, grown: number, factors: Float64Array): number {
    const { cards, unaryOffsets, edgeOffsets } = this.net;
    const { room, codes } = this;
    const { indptr, neighbours, edges } = this.links;
    const [states, at, own] = [cards[i], d * cards.length, unaryOffsets[i]];
    for (let a = 0; a < states; a++) room[a] = factors[own + a];
    const end = grown > 0 ? indptr[i + 1] : indptr[i];
    for (let t = indptr[i]; t < end; t++) {
      const j = neighbours[t];
      const code = codes[at + j];
      const stride = i < j ? cards[j] : 1;
      let place = edgeOffsets[edges[t]] + (i < j ? code : code * states);
      for (let a = 0; a < states; a++, place += stride) room[a] *= factors[place];
    }
    let total = 0;
    for (let a = 0; a < states; a++) total += room[a];
    return total > TINY ? total : this.inLogs(d, i, grown);
  }

  /** Do the same in logs, where products are too small. */
  private inLogs(d: number, i: number, grown: number): number {
    const { cards, weights, unaryOffsets, edgeOffsets } = this.net;
    const { room, links } = this;
    const [states, at] = [cards[i], d * cards.length];
    room.fill(0, 0, states);
    for (let t = links.indptr[i]; grown > 0 && t < links.indptr[i + 1]; t++) {
      const j = links.neighbours[t];
      const code = this.codes[at + j];
      const start = edgeOffsets[links.edges[t]] + (i < j ? code : code * states);
      const stride = i < j ? cards[j] : 1;
      for (let a = 0; a < states; a++) room[a] += grown * weights[start + a * stride];
    }
    let top = -Infinity;
    for (let a = 0; a < states; a++) {
      room[a] += weights[unaryOffsets[i] + a];
      if (room[a] > top) top = room[a];
    }
    if (!(top > -Infinity)) return 0;
    let total = 0;
    for (let a = 0; a < states; a++) total += room[a] = Math.exp(room[a] - top);
    return total;
  }

  /** Return means of conditionals, their standard error, and how often pairs of states occur. */
  read(edges: Iterable<number>): Sampled {
    const { cards, unaryOffsets, edgeOffsets } = this.net;
    const n = cards.length;
    const top = largest(this.logIslands);
    const relative = this.logIslands.map((value) => Math.exp(value - top));
    const whole = relative.reduce((sum, value) => sum + value, 0);
    const shares = relative.map((value) => value / whole);
    const values = new Float64Array(unaryOffsets[n]);
    let noise = 0;
    const means = Array.from(shares, () => new Float64Array(unaryOffsets[n]));
    const factors = factorsOf(this.net, 1);
    for (let d = 0; d < this.size; d++) {
      const own = means[Math.floor(d / this.each)];
      for (let i = 0; i < n; i++) {
        const total = this.conditional(d, i, 1, factors);
        for (let a = 0; a < cards[i]; a++) {
          own[unaryOffsets[i] + a] += this.room[a] / total / this.each;
        }
      }
    }
    for (let s = 0; s < values.length; s++) {
      for (let k = 0; k < ISLANDS; k++) values[s] += shares[k] * means[k][s];
      let spread = 0;
      for (let k = 0; k < ISLANDS; k++) spread += (shares[k] * (means[k][s] - values[s])) ** 2;
      noise = Math.max(noise, Math.sqrt((spread * ISLANDS) / (ISLANDS - 1)));
    }
    const pairs = new Map<number, Float64Array>();
    for (const e of edges) {
      const [i, j] = [this.net.edges[2 * e], this.net.edges[2 * e + 1]];
      const joint = new Float64Array(edgeOffsets[e + 1] - edgeOffsets[e]);
      for (let d = 0; d < this.size; d++) {
        const cell = this.codes[d * n + i] * cards[j] + this.codes[d * n + j];
        joint[cell] += shares[Math.floor(d / this.each)] / this.each;
      }
      pairs.set(e, joint);
    }
    return { values, noise, pairs };
  }
}

/** Return the exponentials of all unaries, and of tables at a share of their size, at most 1. */
function factorsOf(net: Network, grown: number): Float64Array {
  const { cards, edges, weights, unaryOffsets, edgeOffsets } = net;
  const out = new Float64Array(weights.length);
  const fill = (from: number, to: number, share: number) => {
    const top = largest(weights.subarray(from, to));
    if (!(top > -Infinity)) return;
    for (let k = from; k < to; k++) out[k] = Math.exp(share * (weights[k] - top));
  };
  cards.forEach((_, i) => fill(unaryOffsets[i], unaryOffsets[i + 1], 1));
  for (let e = 0; grown > 0 && e < edges.length / 2; e++) {
    fill(edgeOffsets[e], edgeOffsets[e + 1], grown);
  }
  return out;
}

/** The share of draws that is left in effect where they gain a share of these log weights. */
function left(rise: Float64Array, step: number): number {
  const top = step * largest(rise);
  if (!(top > -Infinity)) return 0;
  let [sum, squares] = [0, 0];
  for (const value of rise) {
    const relative = Math.exp(step * value - top);
    sum += relative;
    squares += relative * relative;
  }
  return (sum * sum) / squares / rise.length;
}

function largest(values: Float64Array): number {
  return values.reduce((most, value) => Math.max(most, value), -Infinity);
}
