/**
 * Lines that are bent where a straight one would pass under a disc that is not its end.
 *
 * The rule, and its numbers, are those of bends.py; a test compares the two. It is not computed in
 * Python for the page, because discs grow less than distances do when the picture is zoomed.
 */

/** Straight parts of a line. */
const PARTS = 32;
/** A line this far from its chord, as a share of the chord's length, is bent most. */
const MOST = 0.25;
/** Bent lines keep this many times the distance that straight ones must. */
const ROOM = 1.5;
/** Bends tried for one line. */
const TRIED = 48;

export interface View {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** A curve from one point to another: a parabola, whose control point says how it is bent. */
export interface Curve {
  x1: number;
  y1: number;
  x2: number;
  y2: number;
  /** The control point; the middle of a straight line. */
  cx: number;
  cy: number;
}

/** Return the line between two points whose middle is some distance to the left of the straight one. */
export function curve(x1: number, y1: number, x2: number, y2: number, bend: number): Curve {
  const length = Math.hypot(x2 - x1, y2 - y1) || 1;
  const step = (2 * bend) / length;
  const [cx, cy] = [(x1 + x2) / 2 - step * (y2 - y1), (y1 + y2) / 2 + step * (x2 - x1)];
  return { x1, y1, x2, y2, cx, cy };
}

/** Return the point of a curve at a share, between 0 and 1, of its way. */
export function along({ x1, y1, x2, y2, cx, cy }: Curve, t: number): readonly [number, number] {
  const [a, b, c] = [(1 - t) * (1 - t), 2 * t * (1 - t), t * t];
  return [a * x1 + b * cx + c * x2, a * y1 + b * cy + c * y2];
}

/** Return the part of a curve between two shares of its way. */
export function part(whole: Curve, from: number, to: number): Curve {
  const [x1, y1] = along(whole, from);
  const [x2, y2] = along(whole, to);
  const blend = (first: number, control: number, last: number) =>
    (1 - from) * (1 - to) * first + (from + to - 2 * from * to) * control + from * to * last;
  const cx = blend(whole.x1, whole.cx, whole.x2);
  const cy = blend(whole.y1, whole.cy, whole.y2);
  return { x1, y1, x2, y2, cx, cy };
}

/** Return the shares of a curve's way that lead clear of some discs, from where to where each. */
export function clearOf(
  line: Curve,
  discs: readonly { x: number; y: number; radius: number }[],
): [number, number][] {
  const steps = 8 * PARTS;
  const out: [number, number][] = [];
  let from = -1;
  for (let k = 0; k <= steps; k++) {
    const [x, y] = along(line, k / steps);
    const free = discs.every((disc) => Math.hypot(x - disc.x, y - disc.y) >= disc.radius);
    if (free && from < 0) from = k;
    if (from >= 0 && (!free || k === steps)) {
      const to = free ? k : k - 1;
      if (to > from) out.push([from / steps, to / steps]);
      from = -1;
    }
  }
  return out;
}

/** Return how far a point is from a curve. */
export function distance(line: Curve, x: number, y: number): number {
  const { x1, y1, x2, y2, cx, cy } = line;
  let [u, v, least] = [x1, y1, Infinity];
  for (let k = 1; k <= PARTS; k++) {
    const t = k / PARTS;
    const [a, b, c] = [(1 - t) * (1 - t), 2 * t * (1 - t), t * t];
    const p = a * x1 + b * cx + c * x2;
    const q = a * y1 + b * cy + c * y2;
    least = Math.min(least, toSegment(x, y, u, v, p, q));
    u = p;
    v = q;
  }
  return least;
}

export function toSegment(
  x: number,
  y: number,
  x1: number,
  y1: number,
  x2: number,
  y2: number,
): number {
  const [u, v] = [x2 - x1, y2 - y1];
  const share = ((x - x1) * u + (y - y1) * v) / Math.max(u * u + v * v, 1e-300);
  const t = Math.min(Math.max(share, 0), 1);
  return Math.hypot(x - x1 - t * u, y - y1 - t * v);
}

/** What a line must keep clear of: points, and how near it may come. */
interface Obstacle {
  x: number;
  y: number;
  clear: number;
  /** Along the chord, and to its left. */
  place: number;
  side: number;
}

/**
 * Return how far the middle of each line is from its chord, to the left: 0 for a straight one.
 *
 * Each is bent as little as keeps it clear of discs; where no bend is clear of all of them, it is
 * the one that meets fewest, a straight one first.
 *
 * @param lines Two nodes of each line, one pair after the other.
 * @param nodes The nodes that are drawn.
 * @param clear How near the middle of a line may come to a node.
 */
export function bends(
  xs: ArrayLike<number>,
  ys: ArrayLike<number>,
  lines: ArrayLike<number>,
  nodes: readonly number[],
  clear: (line: number, node: number) => number,
  view: View,
): Float64Array {
  const out = new Float64Array(lines.length / 2);
  for (let k = 0; k < out.length; k++) {
    const [i, j] = [lines[2 * k], lines[2 * k + 1]];
    const [x1, y1, x2, y2] = [xs[i], ys[i], xs[j], ys[j]];
    const length = Math.hypot(x2 - x1, y2 - y1);
    if (length === 0) continue;
    const [ux, uy] = [(x2 - x1) / length, (y2 - y1) / length];
    const near: Obstacle[] = [];
    let met = 0;
    for (const node of nodes) {
      if (node === i || node === j) continue;
      const [x, y] = [xs[node], ys[node]];
      const side = (y - y1) * ux - (x - x1) * uy;
      const own = clear(k, node);
      const reach = MOST * length + ROOM * own;
      if (Math.abs(side) >= reach) continue;
      const place = (x - x1) * ux + (y - y1) * uy;
      if (place <= -reach || place >= length + reach) continue;
      const away = toSegment(x, y, x1, y1, x2, y2);
      if (away >= reach) continue;
      if (away < own) met++;
      near.push({ x, y, clear: own, place, side });
    }
    if (met) out[k] = around(curve(x1, y1, x2, y2, 0), length, near, met, view);
  }
  return out;
}

/** Return the least bend among those that meet fewest nodes. */
function around(
  straight: Curve,
  length: number,
  near: readonly Obstacle[],
  met: number,
  view: View,
): number {
  let [best, fewest] = [0, met];
  const { x1, y1, x2, y2 } = straight;
  for (const bend of candidates(near, length)) {
    const line = curve(x1, y1, x2, y2, bend);
    if (!inside(line, view)) continue;
    const found = meets(line, bend, length, near, fewest);
    if (found < fewest) [best, fewest] = [bend, found];
    if (fewest === 0) break;
  }
  return best;
}

/** Return how many nodes a line meets, or the most that are of interest. */
function meets(
  line: Curve,
  bend: number,
  length: number,
  near: readonly Obstacle[],
  most: number,
): number {
  let met = 0;
  for (const { x, y, clear, place, side } of near) {
    const t = place / length;
    const beside = t > 0 && t < 1 ? Math.abs(side - 4 * bend * t * (1 - t)) : NaN;
    // No part of the line is steeper than 45 degrees: most nodes are seen to be near it, or far.
    if (beside > 1.5 * clear) continue;
    const hit = beside < clear - Math.abs(bend) / 512 || distance(line, x, y) < clear;
    if (hit && ++met >= most) break;
  }
  return met;
}

/** Return bends that pass a node just with its room, on one side or the other, the least first. */
function candidates(near: readonly Obstacle[], length: number): number[] {
  const found: number[] = [];
  for (const way of [-1, 1]) {
    for (const { clear, place, side } of near) {
      const t = place / length;
      if (t > 0 && t < 1) found.push((side + way * ROOM * clear) / (4 * t * (1 - t)));
    }
  }
  // Where a line is slanted, it comes nearer to a node than it is beside it.
  return [...found, ...found.map((bend) => 1.25 * bend)]
    .filter((bend) => Math.abs(bend) <= MOST * length)
    .sort((a, b) => Math.abs(a) - Math.abs(b))
    .slice(0, TRIED);
}

function inside(line: Curve, { left, top, right, bottom }: View): boolean {
  for (let k = 0; k <= PARTS; k++) {
    const [x, y] = along(line, k / PARTS);
    if (x < left || x > right || y < top || y > bottom) return false;
  }
  return true;
}
