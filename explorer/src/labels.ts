/** Where labels go: beside their discs, never on another label, nor on a disc if they can. */

export interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

export interface Placed extends Box {
  item: number;
}

export interface Wanted {
  item: number;
  x: number;
  y: number;
  radius: number;
  width: number;
  height: number;
  /** Directions, in radians, of the lines that leave the disc: labels keep out of their way. */
  lines?: number[];
}

/** A grid of boxes, so that only near ones are compared. */
class Boxes {
  private readonly cells = new Map<number, Box[]>();

  constructor(private readonly size: number) {}

  add(box: Box): void {
    this.visit(box, (key) => {
      const cell = this.cells.get(key);
      if (cell) cell.push(box);
      else this.cells.set(key, [box]);
      return false;
    });
  }

  hits(box: Box): boolean {
    return this.visit(box, (key) =>
      (this.cells.get(key) ?? []).some(
        (other) =>
          box.left < other.right &&
          box.right > other.left &&
          box.top < other.bottom &&
          box.bottom > other.top,
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

/**
 * Return the labels that have room, in the order wanted. The first must items are placed even where
 * they cover discs, but never on another label.
 */
export function placeLabels(
  wanted: Wanted[],
  discs: { x: number; y: number; radius: number }[],
  area: Box,
  must = 0,
): Placed[] {
  const labels = new Boxes(80);
  const circles = new Boxes(80);
  for (const { x, y, radius } of discs) {
    circles.add({ left: x - radius, top: y - radius, right: x + radius, bottom: y + radius });
  }
  const out: Placed[] = [];
  for (const [k, each] of wanted.entries()) {
    const boxes = candidates(each).filter((box) => inside(box, area) && !labels.hits(box));
    const box = boxes.find((one) => !circles.hits(one)) ?? (k < must ? boxes[0] : undefined);
    if (!box) continue;
    labels.add(box);
    out.push({ ...box, item: each.item });
  }
  return out;
}

/** Right, left, below, above, then the corners: as steps across and down. */
const SIDES = [
  [1, 0], [-1, 0], [0, 1], [0, -1], [1, 1], [-1, -1], [1, -1], [-1, 1],
] as const; // prettier-ignore

/** Return the places of a label, those that few lines cross first. */
function candidates({ x, y, radius, width, height, lines = [] }: Wanted): Box[] {
  const gap = radius + 3;
  const corner = radius + 1;
  const boxes = SIDES.map(([across, down], place) => {
    const away = across && down ? corner : gap;
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
