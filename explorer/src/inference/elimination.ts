/** In which order to sum variables out, and whether that is affordable, before any table is made. */

export interface Elimination {
  order: number[];
  /** The neighbours of each variable when it is eliminated, in the order of elimination. */
  separators: number[][];
  /** Cells of all tables together. */
  cells: number;
}

type Score = (v: number, near: Set<number>[]) => number;

/** Return the cheaper of the min-weight and min-fill orders; null if both need more cells. */
export function eliminate(
  cards: Int32Array,
  edges: Int32Array,
  mostCells: number,
): Elimination | null {
  const logs = Array.from(cards, Math.log);
  const weight: Score = (v, near) => {
    if (near[v].size <= 1) return -1; // removing a leaf is never wrong
    let total = logs[v];
    for (const u of near[v]) total += logs[u];
    return total;
  };
  const first = greedy(cards, edges, mostCells, weight, false);
  const fill: Score = (v, near) => missingLinks(near[v], near) + 1e-3 * weight(v, near);
  const bound = first === null ? mostCells : first.cells - 1;
  return greedy(cards, edges, bound, fill, true) ?? first;
}

/** Return the order that always takes the lowest score; null once it costs more than the bound. */
function greedy(
  cards: Int32Array,
  edges: Int32Array,
  bound: number,
  score: Score,
  wide: boolean,
): Elimination | null {
  const n = cards.length;
  const near = Array.from({ length: n }, () => new Set<number>());
  for (let e = 0; e < edges.length; e += 2) {
    near[edges[e]].add(edges[e + 1]);
    near[edges[e + 1]].add(edges[e]);
  }
  const heap = new Heap();
  const latest = Float64Array.from({ length: n }, (_, v) => score(v, near));
  for (let v = 0; v < n; v++) heap.push(latest[v], v);
  const position = new Int32Array(n).fill(-1);
  const order: number[] = [];
  const separators: number[][] = [];
  let cells = 0;
  while (order.length < n) {
    const [key, v] = heap.pop();
    if (position[v] >= 0 || key !== latest[v]) continue;
    const own = [...near[v]];
    cells += own.reduce((size, u) => size * cards[u], cards[v]);
    if (cells > bound) return null;
    position[v] = order.length;
    order.push(v);
    separators.push(own);
    const touched = connect(v, own, near, wide);
    for (const u of touched) {
      latest[u] = score(u, near);
      heap.push(latest[u], u);
    }
  }
  for (const separator of separators) separator.sort((a, b) => position[a] - position[b]);
  return { order, separators, cells };
}

/** Take v out and join its neighbours; return whose scores that changes. */
function connect(v: number, own: number[], near: Set<number>[], wide: boolean): Set<number> {
  const touched = new Set(own);
  for (const u of own) near[u].delete(v);
  for (const [k, u] of own.entries()) {
    for (const w of own.slice(k + 1)) {
      if (near[u].has(w)) continue;
      near[u].add(w);
      near[w].add(u);
      if (!wide) continue;
      const [small, large] = near[u].size < near[w].size ? [near[u], near[w]] : [near[w], near[u]];
      for (const x of small) if (large.has(x)) touched.add(x);
    }
  }
  return touched;
}

function missingLinks(own: Set<number>, near: Set<number>[]): number {
  const listed = [...own];
  let missing = 0;
  for (let k = 0; k < listed.length; k++) {
    for (let l = k + 1; l < listed.length; l++) if (!near[listed[k]].has(listed[l])) missing++;
  }
  return missing;
}

/** A binary heap of keys and items, the lowest key first, of equal keys the lowest item. */
class Heap {
  private readonly keys: number[] = [];
  private readonly items: number[] = [];

  push(key: number, item: number): void {
    let at = this.keys.length;
    while (at > 0) {
      const up = (at - 1) >> 1;
      if (!this.before(key, item, up)) break;
      this.keys[at] = this.keys[up];
      this.items[at] = this.items[up];
      at = up;
    }
    this.keys[at] = key;
    this.items[at] = item;
  }

  pop(): [number, number] {
    const top: [number, number] = [this.keys[0], this.items[0]];
    const key = this.keys.pop() as number;
    const item = this.items.pop() as number;
    const size = this.keys.length;
    if (size > 0) this.sink(key, item, size);
    return top;
  }

  private sink(key: number, item: number, size: number): void {
    let at = 0;
    for (;;) {
      let down = 2 * at + 1;
      if (down >= size) break;
      if (down + 1 < size && this.before(this.keys[down + 1], this.items[down + 1], down)) down++;
      if (this.before(key, item, down)) break;
      this.keys[at] = this.keys[down];
      this.items[at] = this.items[down];
      at = down;
    }
    this.keys[at] = key;
    this.items[at] = item;
  }

  private before(key: number, item: number, at: number): boolean {
    return key < this.keys[at] || (key === this.keys[at] && item < this.items[at]);
  }
}
