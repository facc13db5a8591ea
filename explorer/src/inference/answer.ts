/** What a network answers to evidence: exact where a junction tree is affordable, else not. */

import { eliminate, type Elimination } from "./elimination";
import { compile, marginals as exactMarginals, mostProbable } from "./junction";
import { DEFAULTS, propagate, type LoopyOptions } from "./loopy";
import { observe, type Evidence, type Network, type Reduced } from "./network";
import { sample } from "./population";
import { searchMode } from "./search";

export type Engine = "exact" | "bp" | "sampled";

export interface Answer {
  engine: Engine;
  /** Always true of exact and of sampled answers. */
  converged: boolean;
  sweeps: number;
  residual: number;
  /** The largest standard error of a probability; 0 where nothing was drawn. */
  noise: number;
  /** Probabilities of all states, laid out like the unaries. */
  values: Float64Array;
  /** Joint probabilities of the edges asked for, row-major. */
  pairs: Map<number, Float64Array>;
}

export interface Mode {
  codes: Int32Array;
  /** Whether it is known to be the most probable joint state, or the best that a search found. */
  exact: boolean;
}

export interface Asked {
  evidence: Evidence;
  /** Edges whose joint probabilities are wanted. */
  pairs?: Iterable<number>;
  /** The engine, if one is asked for. */
  engine?: Engine;
  loopy?: LoopyOptions;
}

/** The most cells of a junction tree: 128 MiB, a second or so. */
export const MOST_CELLS = 2 ** 24;

/** Return all marginals given the evidence; null where it has probability zero. */
export function answer(net: Network, asked: Asked): Answer | null {
  const reduced = observe(net, asked.evidence);
  if (!(reduced.constant > -Infinity)) return null;
  const wanted = [...(asked.pairs ?? [])];
  const inside = insideEdges(reduced);
  const pairs = wanted.flatMap((e) => inside.get(e) ?? []);
  const found = believe(reduced.network, asked, pairs);
  if (found === null) return null;
  const values = restore(net, reduced, found.values);
  const joint = new Map(
    wanted.map((e) => {
      const own = inside.get(e);
      const table = own === undefined ? outer(net, values, e) : found.pairs.get(own);
      return [e, table as Float64Array];
    }),
  );
  return { ...found, values, pairs: joint };
}

/** Return exact answers where they are affordable, else draws, else what messages say. */
function believe(net: Network, asked: Asked, pairs: number[]): Answer | null {
  const plan = planOf(net, asked);
  if (plan !== null) {
    const exact = exactMarginals(net, compile(net, plan), pairs);
    return (
      exact && { engine: "exact", converged: true, sweeps: 0, residual: 0, noise: 0, ...exact }
    );
  }
  const drawn = asked.engine === "bp" ? null : sample(net, pairs);
  if (drawn !== null) {
    return { engine: "sampled", converged: true, sweeps: 0, residual: 0, ...drawn };
  }
  const messages = propagate(net, pairs, asked.loopy ?? DEFAULTS);
  return messages && { engine: "bp", noise: 0, ...messages };
}

/** Return the most probable joint state given the evidence, or the best found; null if none is. */
export function mode(net: Network, asked: Asked, beliefs?: Float64Array): Mode | null {
  const reduced = observe(net, asked.evidence);
  if (!(reduced.constant > -Infinity)) return null;
  const plan = planOf(reduced.network, asked);
  const codes =
    plan === null
      ? searchMode(reduced.network, beliefs ? [likeliest(net, reduced, beliefs)] : [])
      : mostProbable(reduced.network, compile(reduced.network, plan));
  if (codes === null) return null;
  const full = reduced.codes.slice();
  reduced.free.forEach((i, k) => (full[i] = codes[k]));
  return { codes: full, exact: plan !== null };
}

function planOf(net: Network, asked: Asked): Elimination | null {
  if (asked.engine && asked.engine !== "exact") return null;
  return eliminate(net.cards, net.edges, MOST_CELLS);
}

function insideEdges(reduced: Reduced): Map<number, number> {
  return new Map(Array.from(reduced.kept, (e, k) => [e, k]));
}

/** Return probabilities of all variables: point masses where they were observed. */
function restore(net: Network, reduced: Reduced, values: Float64Array): Float64Array {
  const out = new Float64Array(net.unaryOffsets[net.cards.length]);
  const inner = reduced.network.unaryOffsets;
  reduced.free.forEach((i, k) => {
    out.set(values.subarray(inner[k], inner[k + 1]), net.unaryOffsets[i]);
  });
  reduced.codes.forEach((code, i) => {
    if (code >= 0) out[net.unaryOffsets[i] + code] = 1;
  });
  return out;
}

/** Return the joint probabilities of two variables of which one is observed. */
function outer(net: Network, values: Float64Array, e: number): Float64Array {
  const [i, j] = [net.edges[2 * e], net.edges[2 * e + 1]];
  const columns = net.cards[j];
  return Float64Array.from(
    { length: net.cards[i] * columns },
    (_, k) =>
      values[net.unaryOffsets[i] + Math.floor(k / columns)] *
      values[net.unaryOffsets[j] + (k % columns)],
  );
}

function likeliest(net: Network, reduced: Reduced, beliefs: Float64Array): Int32Array {
  return Int32Array.from(reduced.free, (i) => {
    const own = beliefs.subarray(net.unaryOffsets[i], net.unaryOffsets[i + 1]);
    return own.indexOf(Math.max(...own));
  });
}
