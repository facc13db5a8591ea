/** Where labels go: beside their discs, on no other label, and nearer to no other disc if they can. */

export interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

export interface Round {
  item: number;
  x: number;
  y: number;
  radius: number;
}

export interface Placed extends Box {
  item: number;
  /** Whether a line should lead to the disc, because the label is far, or nearer to another. */
  led: boolean;
}

export interface Wanted extends Round {
  width: number;
  height: number;
  /** Directions, in radians, of the lines that leave the disc: labels keep out of their way. */
  lines?: number[];
}

/** A grid of boxes, so that only near ones are compared. */
class Boxes<T extends Box> {
  private readonly cells = new Map<number, T[]>();

  constructor(private readonly size: number) {}

  add(box: T): void {
    this.visit(box, (key) => {
      const cell = this.cells.get(key);
      if (cell) cell.push(box);
      else this.cells.set(key, [box]);
      return false;
    });
  }

  /** Whether a box shares area with one of those there that a condition holds for. */
  hits(box: Box, holds: (other: T) => boolean = () => true): boolean {
    return this.visit(box, (key) =>
      (this.cells.get(key) ?? []).some(
        (other) =>
          box.left < other.right &&
          box.right > other.left &&
          box.top < other.bottom &&
          box.bottom > other.top &&
          holds(other),
      ),
    );
  }

  private visit(box: Box, act: (key: number) => boolean): boolean {
    const place = (value: number) => Math.floor(value / this.size);
    for (let i = place(box.left); i <= place(box.right); i++) {
      for (let j = place(box.top); j <= place(box.bottom); j++) if (act(i * 65536 + j)) return true;
    }
    return false;
  }
}

/** Pixels by which other discs should be farther than the label's own. */
const COMFORT = 4;
/** Labels further out than beside their disc, by these many of their heights, have a line to it. */
const RINGS = [1, 2, 3];

/** Return how far a disc's rim is from a box; 0 if it touches it. */
export function gap(box: Box, { x, y, radius }: Omit<Round, "item">): number {
  const across = Math.max(box.left - x, x - box.right, 0);
  const down = Math.max(box.top - y, y - box.bottom, 0);
  return Math.max(Math.hypot(across, down) - radius, 0);
}

/**
 * Return the labels that have room, in the order wanted.
 *
 * Beside its disc a label is nearer to it than to any other. The first led items may be further
 * out, with a line to their discs; and the first must of these even on discs, but never on another
 * label.
 */
export function placeLabels(
  wanted: Wanted[],
  discs: Round[],
  area: Box,
  led: number,
  must = 0,
): Placed[] {
  const labels = new Boxes<Box>(80);
  const circles = new Boxes<Box & Round>(80);
  for (const { item, x, y, radius } of discs) {
    const box = { left: x - radius, top: y - radius, right: x + radius, bottom: y + radius };
    circles.add({ item, x, y, radius, ...box });
  }
  const strange = (box: Box, own: Wanted, more: number) => {
    const least = gap(box, own) + more;
    const near = (other: Round) => other.item !== own.item && gap(box, other) < least;
    return circles.hits(grown(box, least), near);
  };
  const out: Placed[] = [];
  for (const [k, each] of wanted.entries()) {
    const free = (ring: number) =>
      candidates(each, ring).filter((box) => inside(box, area) && !labels.hits(box));
    const beside = free(0);
    const open = beside.filter((box) => !circles.hits(box));
    let found =
      open.find((box) => !strange(box, each, COMFORT)) ??
      open.find((box) => !strange(box, each, 0));
    const near = found !== undefined;
    if (!found && k < Math.max(led, must)) {
      const further = RINGS.flatMap(free).filter((box) => !circles.hits(box));
      found = further.find((box) => !strange(box, each, 0)) ?? open[0] ?? further[0];
    }
    if (!found && k < must) found = beside[0];
    if (!found) continue;
    labels.add(found);
    out.push({ ...found, item: each.item, led: !near });
  }
  return out;
}

function grown({ left, top, right, bottom }: Box, by: number): Box {
  return { left: left - by, top: top - by, right: right + by, bottom: bottom + by };
}

/** Right, left, below, above, then the corners: as steps across and down. */
const SIDES = [
  [1, 0], [-1, 0], [0, 1], [0, -1], [1, 1], [-1, -1], [1, -1], [-1, 1],
] as const; // prettier-ignore

/** Return the places of a label, some of its heights out, those that few lines cross first. */
function candidates({ x, y, radius, width, height, lines = [] }: Wanted, ring: number): Box[] {
  const far = radius + ring * height + 3;
  const corner = far - 2;
  const boxes = SIDES.map(([across, down], place) => {
    const away = across && down ? corner : far;
    const u = x + across * (away + width / 2);
    const v = y + down * (away + height / 2);
    const direction = Math.atan2(down, across);
    const crossed = lines.reduce(
      (sum, line) => sum + Math.max(0, Math.cos(line - direction)) ** 6,
      0,
    );
    const box = {
      left: u - width / 2,
      right: u + width / 2,
      top: v - height / 2,
      bottom: v + height / 2,
    };
    return { box, cost: crossed + 0.12 * place };
  });
  return boxes.sort((a, b) => a.cost - b.cost).map(({ box }) => box);
}

function inside(box: Box, area: Box): boolean {
  return (
    box.left >= area.left &&
    box.right <= area.right &&
    box.top >= area.top &&
    box.bottom <= area.bottom
  );
}
