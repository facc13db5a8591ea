/** A picture as a list of lines, discs and texts, for the screen and for files alike. */

import { along, bends, clearOf, curve, distance, part, type Curve } from "./bends";
import type { Palette } from "./colours";
import type { NetworkView } from "./data";
import { cut } from "./format";
import { placeLabels, type Box, type Wanted } from "./labels";
import { radii, stroke, type Camera, type Scene, type Stroke } from "./scene";

export interface Line extends Stroke, Curve {
  pair: number;
  bent: boolean;
  /** Lengths of a dash and of a gap; none of a line without dashes. */
  dash: number[];
}

export interface Disc {
  node: number;
  x: number;
  y: number;
  radius: number;
  colour: string;
  alpha: number;
  /** How far evidence moved the variable, 0 to 1. */
  moved: number;
  observed: boolean;
  selected: boolean;
}

export interface Label {
  text: string;
  x: number;
  y: number;
  bold: boolean;
  /** The line to the disc, from where to where, if the label has one. */
  leader: readonly [number, number, number, number] | null;
}

export interface Drawing {
  width: number;
  height: number;
  lines: Line[];
  discs: Disc[];
  labels: Label[];
}

export interface Shot {
  view: NetworkView;
  scene: Scene;
  camera: Camera;
  width: number;
  height: number;
  palette: Palette;
  selected: number;
  hovered: number;
  observed: ReadonlyMap<number, unknown>;
  /** How far the line of each pair is bent; see `bendsOf`. */
  bends: Float64Array;
  /** How far evidence moved each variable; null without evidence. */
  moved: Float64Array | null;
  /** Draw at most this many of the strongest lines: less while the picture moves. */
  mostLines: number;
  measure: (text: string, bold: boolean) => number;
}

export const FONT = 12;
const MOST_LABEL = 28;
const MOST_LABELS = 260;
const MOST_NAMED = 14;
const CROWD = 120;
/** Pixels between a line and a disc that is not its end. */
const GAP = 2;
/** Pixels around all discs that bent lines may be in. */
const MARGIN = 40;
/** Pictures of more lines times discs are too crowded for bends to be seen. */
const CROWDED = 1_000_000;
/** Pixels between a disc and a line that no bend keeps clear of it: it is interrupted there. */
const OPEN = 3;

export function project(camera: Camera, width: number, height: number, x: number, y: number) {
  return [
    (x - camera.x) * camera.scale + width / 2,
    (y - camera.y) * camera.scale + height / 2,
  ] as const;
}

/** Return the picture that a camera sees. */
export function draw(shot: Shot): Drawing {
  const { view, camera, width, height } = shot;
  const n = view.names.length;
  const xs = new Float64Array(n);
  const ys = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    xs[i] = (view.x[i] - camera.x) * camera.scale + width / 2;
    ys[i] = (view.y[i] - camera.y) * camera.scale + height / 2;
  }
  const discs = discsOf(shot, xs, ys);
  const lines = linesOf(shot, xs, ys, discs);
  return { width, height, lines, discs, labels: labelsOf(shot, discs, directions(shot, lines)) };
}

/**
 * Return how far the middle of each pair's line is from a straight one, in the units of the places.
 *
 * In pixels that depends on the scale: discs grow less than the distances between them.
 */
export function bendsOf(view: NetworkView, scene: Scene, palette: Palette, scale: number) {
  const out = new Float64Array(scene.share.length);
  const nodes = [...scene.shown.keys()].filter((i) => scene.shown[i]);
  if (!nodes.length || scene.pairs.length * nodes.length > CROWDED) return out;
  const [xs, ys] = [view.x.map((x) => x * scale), view.y.map((y) => y * scale)];
  const [sizes, zoom] = [radii(scene, scale), thickness(scale)];
  const widths = Float64Array.from(scene.pairs, (e) => stroke(scene, e, palette, zoom).width);
  const ends = Int32Array.from({ length: 2 * scene.pairs.length }, (_, k) => {
    return scene.ends[2 * scene.pairs[k >> 1] + (k & 1)];
  });
  const edge = (values: Float64Array, turn: 1 | -1) =>
    nodes.reduce((most, i) => Math.max(most, turn * values[i]), -Infinity) * turn + turn * MARGIN;
  const box = { left: edge(xs, -1), right: edge(xs, 1), top: edge(ys, -1), bottom: edge(ys, 1) };
  const clear = (k: number, i: number) => sizes[i] + widths[k] / 2 + GAP;
  bends(xs, ys, ends, nodes, clear, box).forEach((bend, k) => {
    out[scene.pairs[k]] = bend / scale;
  });
  return out;
}

/** Return by how much lines are wider at a scale. */
function thickness(scale: number): number {
  return Math.sqrt(scale / 60);
}

function linesOf(shot: Shot, xs: Float64Array, ys: Float64Array, discs: Disc[]): Line[] {
  const { scene, width, height, palette } = shot;
  const { ends } = scene;
  const sizes = radii(scene, shot.camera.scale);
  const zoom = thickness(shot.camera.scale);
  const faint: Line[] = [];
  const bright: Line[] = [];
  const few = scene.pairs.length * discs.length <= CROWDED;
  const first = Math.max(0, scene.pairs.length - shot.mostLines);
  for (let k = first; k < scene.pairs.length; k++) {
    const e = scene.pairs[k];
    const [i, j] = [ends[2 * e], ends[2 * e + 1]];
    const way = curve(xs[i], ys[i], xs[j], ys[j], shot.bends[e] * shot.camera.scale);
    if (Math.max(way.x1, way.cx, way.x2) < 0 || Math.min(way.x1, way.cx, way.x2) > width) continue;
    if (Math.max(way.y1, way.cy, way.y2) < 0 || Math.min(way.y1, way.cy, way.y2) > height) continue;
    const own = stroke(scene, e, palette, zoom);
    const whole = { pair: e, bent: shot.bends[e] !== 0, ...way, ...own, dash: [] };
    const line = own.dashed ? dashed(whole, sizes[i], sizes[j]) : whole;
    const parts = few ? apart(line, discs, [i, j]) : [line];
    (scene.near[e] ? bright : faint).push(...parts);
  }
  return [...faint, ...bright];
}

/** Return the parts of a line that show where it passes discs that are not its ends. */
function apart(line: Line, discs: readonly Disc[], ends: readonly number[]): Line[] {
  const passed = discs.flatMap(({ node, x, y, radius }) => {
    const reach = radius + line.width / 2;
    const [left, right] = [
      Math.min(line.x1, line.cx, line.x2),
      Math.max(line.x1, line.cx, line.x2),
    ];
    const [top, bottom] = [
      Math.min(line.y1, line.cy, line.y2),
      Math.max(line.y1, line.cy, line.y2),
    ];
    if (x < left - reach || x > right + reach || y < top - reach || y > bottom + reach) return [];
    if (ends.includes(node) || distance(line, x, y) >= reach) return [];
    return [{ x, y, radius: reach + OPEN }];
  });
  if (!passed.length) return [line];
  return clearOf(line, passed).map(([from, to]) => ({ ...line, ...part(line, from, to) }));
}

/** Parts of a curve that its length is summed up from. */
const STEPS = 32;

/** Return a line from disc to disc in dashes: whole ones at both ends, and never fewer than three. */
export function dashed(line: Line, first: number, second: number): Line {
  // How far it is to each point of the way.
  const reached = new Float64Array(STEPS + 1);
  let before = along(line, 0);
  for (let k = 1; k <= STEPS; k++) {
    const here = along(line, k / STEPS);
    reached[k] = reached[k - 1] + Math.hypot(here[0] - before[0], here[1] - before[1]);
    before = here;
  }
  const length = reached[STEPS];
  const seen = length - first - second;
  if (!(seen > 0)) return line;
  const share = (far: number) => {
    const k = Math.max(
      1,
      reached.findIndex((each) => each >= far),
    );
    return (k - 1 + (far - reached[k - 1]) / (reached[k] - reached[k - 1])) / STEPS;
  };
  const [on, off] = [4 + 1.5 * line.width, 3 + line.width];
  const dashes = Math.max(3, Math.round((seen + off) / (on + off)));
  const scale = seen / (dashes * on + (dashes - 1) * off);
  const shown = part(line, share(first), share(length - second));
  return { ...line, ...shown, dash: [on * scale, off * scale] };
}

function discsOf(shot: Shot, xs: Float64Array, ys: Float64Array): Disc[] {
  const { scene, width, height } = shot;
  const sizes = radii(scene, shot.camera.scale);
  const out: Disc[] = [];
  for (let i = 0; i < xs.length; i++) {
    const radius = sizes[i];
    if (!scene.shown[i] || xs[i] < -radius || xs[i] > width + radius) continue;
    if (ys[i] < -radius || ys[i] > height + radius) continue;
    out.push({
      node: i,
      x: xs[i],
      y: ys[i],
      radius,
      colour: scene.colours[i],
      alpha: scene.bright[i] ? 1 : 0.22,
      moved: shot.moved ? shot.moved[i] : 0,
      observed: shot.observed.has(i),
      selected: i === shot.selected,
    });
  }
  return out;
}

/** Return the directions of the lines that leave each variable; of a crowd they do not matter. */
function directions(shot: Shot, lines: Line[]): Map<number, number[]> {
  const out = new Map<number, number[]>();
  if (shot.scene.size.length > CROWD) return out;
  const { ends, near } = shot.scene;
  for (const { pair, x1, y1, x2, y2, cx, cy } of lines) {
    if (!near[pair]) continue;
    for (const [node, own] of [
      [ends[2 * pair], Math.atan2(cy - y1, cx - x1)],
      [ends[2 * pair + 1], Math.atan2(cy - y2, cx - x2)],
    ]) {
      const known = out.get(node);
      if (known) known.push(own);
      else out.set(node, [own]);
    }
  }
  return out;
}

/** Return the labels that have room: what is selected and in the foreground first, then by size. */
function labelsOf(shot: Shot, discs: Disc[], leaving: Map<number, number[]>): Label[] {
  const { scene, view, width, height } = shot;
  const rank = (disc: Disc) =>
    (disc.selected || disc.node === shot.hovered ? 4 : 0) +
    (disc.observed ? 2 : 0) +
    scene.bright[disc.node] +
    Math.min(disc.moved, 0.09) +
    scene.size[disc.node] * 0.9;
  const faded = discs.some((disc) => !scene.bright[disc.node]);
  const listed = discs
    .filter((disc) => !faded || scene.bright[disc.node] || disc.node === shot.hovered)
    .sort((a, b) => rank(b) - rank(a))
    .slice(0, MOST_LABELS);
  const texts = new Map<number, string>();
  const wanted: Wanted[] = listed.map((disc) => {
    const text = cut(view.names[disc.node], MOST_LABEL);
    texts.set(disc.node, text);
    const bold = disc.selected || disc.observed;
    const width = shot.measure(text, bold) + 4;
    const ring = disc.observed ? 5 : disc.moved > 0.005 ? 4 : 0;
    const radius = disc.radius + ring;
    const lines = leaving.get(disc.node);
    return { item: disc.node, x: disc.x, y: disc.y, radius, width, height: FONT + 3, lines };
  });
  // The best connected of a crowd are named even where their labels lie on small discs.
  const crowd = scene.size.length > CROWD;
  const must = Math.max(listed.filter((disc) => rank(disc) >= 2).length, crowd ? MOST_NAMED : 0);
  const area = { left: 0, top: 0, right: width, bottom: height };
  const byNode = new Map(discs.map((disc) => [disc.node, disc]));
  const rounds = discs.map(({ node, x, y, radius }) => ({ item: node, x, y, radius }));
  const led = crowd ? must : wanted.length;
  return placeLabels(wanted, rounds, area, led, must).map((box) => {
    const disc = byNode.get(box.item) as Disc;
    return {
      text: texts.get(box.item) as string,
      x: (box.left + box.right) / 2,
      y: (box.top + box.bottom) / 2,
      bold: disc.selected || disc.observed,
      leader: box.led ? leader(disc, box) : null,
    };
  });
}

/** Return the line from a disc's middle to the nearest point of a label. */
function leader({ x, y }: Disc, box: Box): readonly [number, number, number, number] {
  const near = (value: number, low: number, high: number) => Math.min(Math.max(value, low), high);
  return [x, y, near(x, box.left + 2, box.right - 2), near(y, box.top + 2, box.bottom - 2)];
}
