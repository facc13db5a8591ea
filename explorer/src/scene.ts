/** What is drawn: which pairs pass the filters, and how large, wide and coloured things are. */

import { groupColour, type Palette } from "./colours";
import { valuesOf, type Column, type Model, type NetworkView } from "./data";
import type { State } from "./state";

/** Variables whose probabilities evidence moved by this much are in the foreground. */
const MOVED = 0.05;

export interface Scene {
  /** Pairs that are drawn, the weakest first; the ends of all pairs. */
  pairs: Int32Array;
  ends: Int32Array;
  /** Which variables are drawn, and which are in the foreground. */
  shown: Uint8Array;
  bright: Uint8Array;
  /** Of each pair: share of the largest size, and its sign (0 for none). */
  share: Float64Array;
  sign: Int8Array;
  differs: Uint8Array;
  /** Whether the pairs are differences, of which those that were found stand out. */
  compares: boolean;
  /** Of each variable: share of the largest sum of strengths. */
  size: Float64Array;
  /** How far apart neighbours usually are. */
  spacing: number;
  colours: string[];
  /** Which pairs are in the foreground. */
  near: Uint8Array;
  /** Between 0 and 1: how much lines step back because there are many of them. */
  room: number;
}

/** What lines and discs are as large as: strengths, or how far groups are apart. */
export function sizeColumn(model: Model): Column | undefined {
  const key = model.groups.length ? "change" : "strength";
  return model.columns.find((column) => column.key === key);
}

/** Return which pairs pass the filters. */
export function passes(model: Model, state: State): Uint8Array {
  const count = model.pairs.length / 2;
  const out = new Uint8Array(count).fill(1);
  const strength = sizeColumn(model)?.values;
  const q = valuesOf(model.columns, "q_value");
  const frequency = valuesOf(model.columns, "frequency");
  const sign = signs(model);
  for (let e = 0; e < count; e++) {
    if (strength && strength[e] < state.strength) out[e] = 0;
    // Pairs without a test pass: there is nothing to judge them by.
    if (q && q[e] > state.q) out[e] = 0;
    if (frequency && frequency[e] < state.frequency) out[e] = 0;
    if (model.groups.length) continue;
    if (state.sign === "positive" && sign[e] <= 0) out[e] = 0;
    if (state.sign === "negative" && sign[e] >= 0) out[e] = 0;
  }
  return out;
}

/** Return the sign of each pair: of its correlation, else of its weight; differences have none. */
export function signs(model: Model): Int8Array {
  const { columns, groups } = model;
  const signed = groups.length
    ? undefined
    : (valuesOf(columns, "correlation") ?? valuesOf(columns, "weight"));
  return Int8Array.from({ length: model.pairs.length / 2 }, (_, e) =>
    signed && Number.isFinite(signed[e]) ? Math.sign(signed[e]) : 0,
  );
}

/** Return the pairs that are edges of the network: of a bootstrap, not those of resamples only. */
export function ownEdges(model: Model): number[] {
  const edge = valuesOf(model.columns, "edge");
  return [...Array(model.pairs.length / 2).keys()].filter((e) => !edge || edge[e] > 0);
}

/** What `connections` counts: edges of the network, or pairs that were compared. */
export function countedNoun(model: Model): "edge" | "pair" {
  return model.groups.length ? "pair" : "edge";
}

/** Return the sum of the sizes of each variable's pairs, and their number. */
export function connections(
  n: number,
  model: Model,
): { strength: Float64Array; degree: Int32Array } {
  const strength = new Float64Array(n);
  const degree = new Int32Array(n);
  const values = sizeColumn(model)?.values;
  for (let e = 0; e < model.pairs.length / 2; e++) {
    // Of a bootstrap, pairs that only resamples have are not in the network.
    if (values && values[e] === 0) continue;
    for (const i of [model.pairs[2 * e], model.pairs[2 * e + 1]]) {
      strength[i] += values ? values[e] : 1;
      degree[i]++;
    }
  }
  return { strength, degree };
}

/** Return the variables within some steps of one, over pairs that pass. */
export function within(
  n: number,
  pairs: Int32Array,
  passing: Uint8Array,
  node: number,
  steps: number,
): Uint8Array {
  let found = new Uint8Array(n);
  found[node] = 1;
  for (let step = 0; step < steps; step++) {
    const next = found.slice();
    for (let e = 0; e < passing.length; e++) {
      const [i, j] = [pairs[2 * e], pairs[2 * e + 1]];
      if (passing[e] && (found[i] || found[j])) next[i] = next[j] = 1;
    }
    found = next;
  }
  return found;
}

export function makeScene(
  view: NetworkView,
  state: State,
  palette: Palette,
  moved: Float64Array | null = null,
): Scene {
  const model = view.models[state.model];
  const n = view.names.length;
  const passing = passes(model, state);
  const ego = state.ego > 0 && state.node >= 0;
  const shown = ego
    ? within(n, model.pairs, passing, state.node, state.ego)
    : new Uint8Array(n).fill(1);
  const size = finite(sizeColumn(model)?.values, passing.length);
  const widest = size.reduce((most, s) => Math.max(most, s), 1e-12);
  const share = size.map((s) => s / widest);
  const drawn: number[] = [];
  passing.forEach((pass, e) => {
    if (pass && shown[model.pairs[2 * e]] && shown[model.pairs[2 * e + 1]]) drawn.push(e);
  });
  drawn.sort((a, b) => share[a] - share[b]);
  const grouping = view.groupings[state.grouping];
  const { bright, near } = foreground(n, model, state, passing, grouping?.of);
  // What evidence moved far is what one asked about.
  moved?.forEach((far, i) => (bright[i] |= +(far >= MOVED)));
  const sums = connections(n, model).strength.map((s) => (Number.isFinite(s) ? s : widest));
  const most = sums.reduce((a, b) => Math.max(a, b), 1e-12);
  const differs = valuesOf(model.columns, "differs");
  const lines = drawn.reduce((sum, e) => sum + near[e], 0);
  return {
    room: Math.min(1, Math.max(0.22, Math.sqrt(700 / Math.max(lines, 1)))),
    pairs: Int32Array.from(drawn),
    ends: model.pairs,
    shown,
    bright,
    near,
    share,
    sign: signs(model),
    compares: model.groups.length > 0,
    differs: Uint8Array.from(passing, (_, e) => (differs?.[e] ? 1 : 0)),
    size: sums.map((s) => s / most),
    spacing: view.spacing,
    colours: Array.from({ length: n }, (_, i) =>
      groupColour(grouping ? grouping.of[i] : -1, palette),
    ),
  };
}

function finite(values: Float64Array | undefined, length: number): Float64Array {
  if (!values) return new Float64Array(length).fill(1);
  const top = values.reduce((most, s) => (Number.isFinite(s) ? Math.max(most, s) : most), 1e-12);
  return values.map((s) => (Number.isFinite(s) ? s : top));
}

/** Return what stands in the foreground: what is selected and what it touches, or a group, or all. */
function foreground(
  n: number,
  model: Model,
  state: State,
  passing: Uint8Array,
  of: Int32Array | undefined,
): { bright: Uint8Array; near: Uint8Array } {
  const bright = new Uint8Array(n);
  const near = new Uint8Array(passing.length);
  const { pairs } = model;
  const touch = (e: number) => {
    near[e] = bright[pairs[2 * e]] = bright[pairs[2 * e + 1]] = 1;
  };
  if (state.pair >= 0) {
    touch(state.pair);
  } else if (state.node >= 0) {
    bright[state.node] = 1;
    passing.forEach((pass, e) => {
      if (pass && (pairs[2 * e] === state.node || pairs[2 * e + 1] === state.node)) touch(e);
    });
  } else if (state.group >= 0 && of) {
    of.forEach((group, i) => (bright[i] = +(group === state.group)));
    passing.forEach((_, e) => (near[e] = bright[pairs[2 * e]] & bright[pairs[2 * e + 1]]));
  } else {
    bright.fill(1);
    near.fill(1);
  }
  return { bright, near };
}

export interface Camera {
  /** The point of the data in the middle of the picture, and pixels for a unit. */
  x: number;
  y: number;
  scale: number;
}

/** Return the camera that shows some points with room around them. */
export function fit(
  view: NetworkView,
  shown: Uint8Array,
  width: number,
  height: number,
  margin = 56,
): Camera {
  let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
  for (let i = 0; i < shown.length; i++) {
    if (!shown[i]) continue;
    left = Math.min(left, view.x[i]);
    right = Math.max(right, view.x[i]);
    top = Math.min(top, view.y[i]);
    bottom = Math.max(bottom, view.y[i]);
  }
  if (!(right >= left)) return { x: 0, y: 0, scale: 60 };
  const wide = Math.max(width - 2.4 * margin, 40) / Math.max(right - left, 1e-6);
  const high = Math.max(height - 2 * margin, 40) / Math.max(bottom - top, 1e-6);
  return {
    x: (left + right) / 2,
    y: (top + bottom) / 2,
    scale: Math.min(wide, high, 240),
  };
}

/** Discs of usual size are no larger than this share of the distance between neighbours. */
const ROOM = 0.18;
/** But no smaller than this many pixels. */
const LEAST = 2;

/** Return the radius of each variable's disc in pixels, at a scale. */
export function radii(scene: Scene, scale: number): Float64Array {
  const n = scene.size.length;
  const base = n <= 30 ? 8 : n <= 120 ? 6.5 : n <= 500 ? 4.5 : 2.6;
  const zoom = Math.min(Math.max(Math.sqrt(scale / (n <= 120 ? 60 : 14)), 0.75), 2.2);
  // Where discs are close, lines need the room between them.
  const room = Math.max(ROOM * scene.spacing * scale, LEAST);
  const usual = Math.min(base * zoom, room);
  return scene.size.map((share) => usual * (0.65 + 0.75 * Math.sqrt(share)));
}

export interface Stroke {
  colour: string;
  width: number;
  alpha: number;
  dashed: boolean;
}

/** Return how a pair is drawn. */
export function stroke(scene: Scene, e: number, palette: Palette, zoom: number): Stroke {
  const dense = Math.min(1, 2.6 / Math.sqrt(Math.max(scene.pairs.length / scene.size.length, 1)));
  const share = scene.share[e];
  const colour = scene.differs[e]
    ? palette.differs
    : scene.sign[e] > 0
      ? palette.positive
      : scene.sign[e] < 0
        ? palette.negative
        : palette.unsigned;
  const faint = 0.06 * scene.room;
  const usual = (0.25 + 0.65 * Math.sqrt(share)) * scene.room;
  return {
    colour,
    width: (0.6 + 4.4 * share * dense) * Math.min(Math.max(zoom, 0.5), 1.6),
    alpha: !scene.near[e] ? faint : scene.compares ? (scene.differs[e] ? 0.95 : usual / 2) : usual,
    dashed: scene.sign[e] < 0,
  };
}
