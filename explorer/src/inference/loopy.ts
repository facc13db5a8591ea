/**
 * Loopy belief propagation in logarithms, with the schedule of graftwork.inference.loopy: a sweep
 * goes backward through a breadth-first order, then forward; a run that has not converged is tried
 * once more with damping, and the better of the two is taken.
 */

import { adjacency, type Adjacency, type Network } from "./network";

export interface LoopyOptions {
  sweeps: number;
  tol: number;
}

export interface Beliefs {
  values: Float64Array;
  converged: boolean;
  /** Largest change of a log-message in the last sweep. */
  residual: number;
  sweeps: number;
  pairs: Map<number, Float64Array>;
}

interface Wiring extends Adjacency {
  order: Int32Array;
  position: Int32Array;
  /** Where the messages into the first and the second end of each edge lie. */
  boxes: Int32Array;
  /** Where the message into the owner of each slot lies, and the one to its neighbour. */
  into: Int32Array;
  to: Int32Array;
  /** Exponentials of the tables, each less its maximum. */
  exps: Float64Array;
}

export const DEFAULTS: LoopyOptions = { sweeps: 200, tol: 1e-9 };
const SECOND_DAMPING = 0.5;
/** Below this a sum of products may have lost terms to underflow, and is redone in logs. */
const TINY = 1e-280;

/** Return beliefs and how far they have settled; null if some variable is left without a state. */
export function propagate(
  net: Network,
  pairs: Iterable<number>,
  options: LoopyOptions = DEFAULTS,
): Beliefs | null {
  const wiring = wire(net);
  let best = attempt(net, wiring, options, 0);
  if (best.residual > options.tol) {
    const second = attempt(net, wiring, options, SECOND_DAMPING);
    const sweeps = best.sweeps + second.sweeps;
    best = { ...(second.residual < best.residual ? second : best), sweeps };
  }
  return read(net, wiring, best, pairs, options.tol);
}

function wire(net: Network): Wiring {
  const n = net.cards.length;
  const m = net.edges.length / 2;
  const links = adjacency(n, net.edges);
  const order = breadthFirst(n, links);
  const position = new Int32Array(n);
  order.forEach((v, k) => (position[v] = k));
  const boxes = new Int32Array(2 * m);
  let at = 0;
  for (let k = 0; k < 2 * m; k++) {
    boxes[k] = at;
    at += net.cards[net.edges[k]];
  }
  const exps = new Float64Array(net.weights.length - net.edgeOffsets[0]);
  for (let e = 0; e < m; e++) {
    const [start, stop] = [net.edgeOffsets[e], net.edgeOffsets[e + 1]];
    let peak = -Infinity;
    for (let k = start; k < stop; k++) peak = Math.max(peak, net.weights[k]);
    const shift = peak > -Infinity ? peak : 0;
    for (let k = start; k < stop; k++) {
      exps[k - net.edgeOffsets[0]] = Math.exp(net.weights[k] - shift);
    }
  }
  const into = new Int32Array(2 * m);
  const to = new Int32Array(2 * m);
  for (let i = 0; i < n; i++) {
    for (let t = links.indptr[i]; t < links.indptr[i + 1]; t++) {
      const e = links.edges[t];
      const own = net.edges[2 * e] === i ? 0 : 1;
      into[t] = boxes[2 * e + own];
      to[t] = boxes[2 * e + 1 - own];
    }
  }
  return { ...links, order, position, boxes, into, to, exps };
}

function breadthFirst(n: number, links: Adjacency): Int32Array {
  const order = new Int32Array(n);
  const seen = new Uint8Array(n);
  let count = 0;
  let head = 0;
  for (let root = 0; root < n; root++) {
    if (seen[root]) continue;
    seen[root] = 1;
    order[count++] = root;
    while (head < count) {
      const i = order[head++];
      for (let t = links.indptr[i]; t < links.indptr[i + 1]; t++) {
        const j = links.neighbours[t];
        if (!seen[j]) {
          seen[j] = 1;
          order[count++] = j;
        }
      }
    }
  }
  return order;
}

interface Attempt {
  messages: Float64Array;
  sweeps: number;
  residual: number;
}

function attempt(net: Network, wiring: Wiring, options: LoopyOptions, damping: number): Attempt {
  const { indptr, neighbours, order, position } = wiring;
  const n = net.cards.length;
  const size = net.edges.reduce((total, i) => total + net.cards[i], 0);
  const messages = new Float64Array(size);
  const room = new Room(net);
  let residual = 0;
  for (let sweep = 1; sweep <= options.sweeps; sweep++) {
    residual = 0;
    for (let step = 0; step < 2 * n; step++) {
      const backward = step < n;
      const i = backward ? order[n - 1 - step] : order[step - n];
      let collected = false;
      for (let t = indptr[i]; t < indptr[i + 1]; t++) {
        if (position[neighbours[t]] < position[i] !== backward) continue;
        if (!collected) collect(net, wiring, messages, i, room);
        collected = true;
        const change = send(net, wiring, messages, i, t, damping, room);
        if (change > residual) residual = change;
      }
    }
    if (residual <= options.tol) return { messages, sweeps: sweep, residual };
  }
  return { messages, sweeps: options.sweeps, residual };
}

/** Arrays as long as the most states, used again and again. */
class Room {
  readonly total: Float64Array;
  readonly zeros: Int32Array;
  readonly cavity: Float64Array;
  readonly linear: Float64Array;
  readonly fresh: Float64Array;

  constructor(net: Network) {
    const widest = net.cards.reduce((most, states) => Math.max(most, states), 1);
    this.total = new Float64Array(widest);
    this.zeros = new Int32Array(widest);
    this.cavity = new Float64Array(widest);
    this.linear = new Float64Array(widest);
    this.fresh = new Float64Array(widest);
  }
}

/** Sum the finite logs that meet at a variable, and count the infinite ones, state by state. */
function collect(net: Network, wiring: Wiring, messages: Float64Array, i: number, room: Room) {
  const { total, zeros } = room;
  const states = net.cards[i];
  for (let a = 0; a < states; a++) {
    const value = net.weights[net.unaryOffsets[i] + a];
    zeros[a] = value === -Infinity ? 1 : 0;
    total[a] = zeros[a] ? 0 : value;
  }
  for (let t = wiring.indptr[i]; t < wiring.indptr[i + 1]; t++) {
    const into = wiring.into[t];
    for (let a = 0; a < states; a++) {
      if (messages[into + a] === -Infinity) zeros[a]++;
      else total[a] += messages[into + a];
    }
  }
}

/** Fill the cavity with the log belief without slot t, less its peak. */
function takeAway(states: number, into: number, messages: Float64Array, room: Room): void {
  const { total, zeros, cavity } = room;
  let peak = -Infinity;
  for (let a = 0; a < states; a++) {
    const message = messages[into + a];
    if (message > -Infinity) cavity[a] = zeros[a] === 0 ? total[a] - message : -Infinity;
    else cavity[a] = zeros[a] === 1 ? total[a] : -Infinity;
    if (cavity[a] > peak) peak = cavity[a];
  }
  if (peak > -Infinity) for (let a = 0; a < states; a++) cavity[a] -= peak;
}

/** Replace the message of slot t; return its largest change. */
function send(
  net: Network,
  wiring: Wiring,
  messages: Float64Array,
  i: number,
  t: number,
  damping: number,
  room: Room,
): number {
  const { cavity, linear, fresh } = room;
  const e = wiring.edges[t];
  const j = wiring.neighbours[t];
  const to = wiring.to[t];
  const states = net.cards[i];
  const targets = net.cards[j];
  takeAway(states, wiring.into[t], messages, room);
  for (let a = 0; a < states; a++) linear[a] = Math.exp(cavity[a]);
  const own = i < j ? targets : 1;
  const other = i < j ? 1 : states;
  const start = net.edgeOffsets[e] - net.edgeOffsets[0];
  let peak = -Infinity;
  for (let b = 0; b < targets; b++) {
    let value = 0;
    for (let a = 0; a < states; a++) value += linear[a] * wiring.exps[start + a * own + b * other];
    fresh[b] = value > TINY ? Math.log(value) : logEntry(net, e, states, own, b * other, cavity);
    if (fresh[b] > peak) peak = fresh[b];
  }
  let change = 0;
  for (let b = 0; b < targets; b++) {
    let value = peak > -Infinity ? fresh[b] - peak : 0;
    const old = messages[to + b];
    if (value === old) continue;
    change = Math.max(change, Math.abs(value - old));
    if (damping > 0 && value > -Infinity && old > -Infinity) {
      value = (1 - damping) * value + damping * old;
    }
    messages[to + b] = value;
  }
  return change;
}

/** Return log sum_a exp(cavity[a] + table[a, b]), safe from underflow. */
function logEntry(
  net: Network,
  e: number,
  states: number,
  own: number,
  shift: number,
  cavity: Float64Array,
): number {
  const start = net.edgeOffsets[e];
  // The tables of exponentials are less their maxima, and so must this be.
  let top = -Infinity;
  for (let k = start; k < net.edgeOffsets[e + 1]; k++) top = Math.max(top, net.weights[k]);
  let peak = -Infinity;
  for (let a = 0; a < states; a++) {
    peak = Math.max(peak, cavity[a] + net.weights[start + a * own + shift]);
  }
  if (peak === -Infinity) return peak;
  let total = 0;
  for (let a = 0; a < states; a++) {
    total += Math.exp(cavity[a] + net.weights[start + a * own + shift] - peak);
  }
  return peak - top + Math.log(total);
}

function read(
  net: Network,
  wiring: Wiring,
  found: Attempt,
  pairs: Iterable<number>,
  tol: number,
): Beliefs | null {
  const room = new Room(net);
  const values = new Float64Array(net.edgeOffsets[0]);
  for (let i = 0; i < net.cards.length; i++) {
    collect(net, wiring, found.messages, i, room);
    const logs = Array.from({ length: net.cards[i] }, (_, a) =>
      room.zeros[a] ? -Infinity : room.total[a],
    );
    if (!normalise(logs, values, net.unaryOffsets[i])) return null;
  }
  const joint = new Map<number, Float64Array>();
  for (const e of pairs) joint.set(e, pairBelief(net, wiring, found.messages, e, room));
  const { sweeps, residual } = found;
  return { values, converged: residual <= tol, residual, sweeps, pairs: joint };
}

/** Write the distribution of some logs; return whether there is one. */
function normalise(logs: ArrayLike<number>, out: Float64Array, at: number): boolean {
  let peak = -Infinity;
  for (let a = 0; a < logs.length; a++) peak = Math.max(peak, logs[a]);
  if (!(peak > -Infinity)) return false;
  let total = 0;
  for (let a = 0; a < logs.length; a++) total += Math.exp(logs[a] - peak);
  for (let a = 0; a < logs.length; a++) out[at + a] = Math.exp(logs[a] - peak) / total;
  return true;
}

function pairBelief(
  net: Network,
  wiring: Wiring,
  messages: Float64Array,
  e: number,
  room: Room,
): Float64Array {
  const ends = [net.edges[2 * e], net.edges[2 * e + 1]];
  const cavities = ends.map((i, end) => {
    collect(net, wiring, messages, i, room);
    takeAway(net.cards[i], wiring.boxes[2 * e + end], messages, room);
    return room.cavity.slice(0, net.cards[i]);
  });
  const columns = net.cards[ends[1]];
  const logs = net.weights
    .slice(net.edgeOffsets[e], net.edgeOffsets[e + 1])
    .map((value, k) => value + cavities[0][Math.floor(k / columns)] + cavities[1][k % columns]);
  const out = new Float64Array(logs.length);
  normalise(logs, out, 0);
  return out;
}
