/** A picture as a list of lines, discs and texts, for the screen and for files alike. */

import type { Palette } from "./colours";
import type { NetworkView } from "./data";
import { cut } from "./format";
import { placeLabels, type Wanted } from "./labels";
import { radii, stroke, type Camera, type Scene, type Stroke } from "./scene";

export interface Line extends Stroke {
  pair: number;
  x1: number;
  y1: number;
  x2: number;
  y2: number;
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
  const lines = linesOf(shot, xs, ys);
  return { width, height, lines, discs, labels: labelsOf(shot, discs, directions(shot, lines)) };
}

function linesOf(shot: Shot, xs: Float64Array, ys: Float64Array): Line[] {
  const { scene, width, height, palette } = shot;
  const { ends } = scene;
  const sizes = radii(scene, shot.camera.scale);
  const zoom = Math.sqrt(shot.camera.scale / 60);
  const faint: Line[] = [];
  const bright: Line[] = [];
  const first = Math.max(0, scene.pairs.length - shot.mostLines);
  for (let k = first; k < scene.pairs.length; k++) {
    const e = scene.pairs[k];
    const [i, j] = [ends[2 * e], ends[2 * e + 1]];
    const [x1, y1, x2, y2] = [xs[i], ys[i], xs[j], ys[j]];
    if (Math.max(x1, x2) < 0 || Math.min(x1, x2) > width) continue;
    if (Math.max(y1, y2) < 0 || Math.min(y1, y2) > height) continue;
    const own = stroke(scene, e, palette, zoom);
    const whole = { pair: e, x1, y1, x2, y2, ...own, dash: [] };
    const line = own.dashed ? dashed(whole, sizes[i], sizes[j]) : whole;
    (scene.near[e] ? bright : faint).push(line);
  }
  return [...faint, ...bright];
}

/** Return a line from disc to disc in dashes: whole ones at both ends, and never fewer than three. */
export function dashed(line: Line, first: number, second: number): Line {
  const { x1, y1, x2, y2, width } = line;
  const length = Math.hypot(x2 - x1, y2 - y1);
  const seen = length - first - second;
  if (!(seen > 0)) return line;
  const [on, off] = [4 + 1.5 * width, 3 + width];
  const dashes = Math.max(3, Math.round((seen + off) / (on + off)));
  const scale = seen / (dashes * on + (dashes - 1) * off);
  const [u, v] = [(x2 - x1) / length, (y2 - y1) / length];
  return {
    ...line,
    x1: x1 + first * u,
    y1: y1 + first * v,
    x2: x2 - second * u,
    y2: y2 - second * v,
    dash: [on * scale, off * scale],
  };
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
  for (const { pair, x1, y1, x2, y2 } of lines) {
    if (!near[pair]) continue;
    const angle = Math.atan2(y2 - y1, x2 - x1);
    for (const [node, own] of [
      [ends[2 * pair], angle],
      [ends[2 * pair + 1], angle + Math.PI],
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
  const named = scene.size.length > CROWD ? MOST_NAMED : 0;
  const must = Math.max(listed.filter((disc) => rank(disc) >= 2).length, named);
  const area = { left: 0, top: 0, right: width, bottom: height };
  const byNode = new Map(discs.map((disc) => [disc.node, disc]));
  return placeLabels(wanted, discs, area, must).map((box) => {
    const disc = byNode.get(box.item) as Disc;
    return {
      text: texts.get(box.item) as string,
      x: (box.left + box.right) / 2,
      y: (box.top + box.bottom) / 2,
      bold: disc.selected || disc.observed,
    };
  });
}
