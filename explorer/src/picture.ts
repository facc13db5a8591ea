/** The picture on a canvas: pan, zoom, point at, select. */

import { curve, distance } from "./bends";
import type { Palette } from "./colours";
import type { NetworkView } from "./data";
import { bendsOf, draw, project, type Drawing, type Shot } from "./drawing";
import { h } from "./dom";
import { font, paint } from "./paint";
import { fit, radii, type Camera, type Scene } from "./scene";

export interface Pointed {
  node: number;
  pair: number;
}

export interface PictureEvents {
  select: (what: Pointed) => void;
  moved: (camera: Camera) => void;
  /** What the pointer is on, in words, at a place of the picture. */
  hover: (what: Pointed, x: number, y: number) => void;
}

export interface Contents {
  scene: Scene;
  palette: Palette;
  selected: number;
  observed: ReadonlyMap<number, unknown>;
  moved: Float64Array | null;
}

/** While the picture moves, only this many of the strongest lines are drawn. */
const LINES_MOVING = 2500;
/** Pictures of more lines and discs than this are moved as they were painted, for a while. */
const HEAVY = 1500;
/** How far, as a share of the picture, and by which factor, before they are painted again. */
const FAR = 0.3;
const MOST_ZOOM = 1.7;
const SETTLED_AFTER = 140;
const NEAR_LINE = 6;
/** Pixels of a printed picture from left to right, dots of the paper for each, and its height. */
const PAPER = 700;
const PAPER_SHARPNESS = 3;
const [LEAST_HIGH, MOST_HIGH] = [0.5, 1.3];

export class Picture {
  readonly canvas: HTMLCanvasElement;
  private readonly pen: CanvasRenderingContext2D;
  private contents: Contents | null = null;
  private camera: Camera = { x: 0, y: 0, scale: 60 };
  private width = 0;
  private height = 0;
  private hovered: Pointed = { node: -1, pair: -1 };
  private frame = 0;
  private settle = 0;
  private moving = false;
  private readonly pointers = new Map<number, { x: number; y: number }>();
  private dragged = 0;
  private readonly widths = new Map<string, number>();
  private fitted = true;
  /** How much of the network was in sight when the camera was last set, in units of its places. */
  private span = { width: 0, height: 0 };
  private printing = false;
  /** What the canvas showed when it began to move, and the camera of that. */
  private snapshot: { image: HTMLCanvasElement; camera: Camera } | null = null;
  private painted: Camera = this.camera;
  /** How far lines are bent, of which scene, and at which scale. */
  private bent: { bends: Float64Array; scene: Scene; scale: number } | null = null;

  constructor(
    private readonly view: NetworkView,
    private readonly events: PictureEvents,
  ) {
    this.canvas = h("canvas", {
      class: "picture",
      tabindex: 0,
      role: "img",
      "aria-label":
        "Picture of the network. Arrow keys move it, plus and minus zoom, 0 shows all of it. " +
        "The tables beside it have the same contents.",
    });
    this.pen = this.canvas.getContext("2d") as CanvasRenderingContext2D;
    this.listen();
  }

  /** Show something else; the camera stays. */
  show(contents: Contents): void {
    this.contents = contents;
    this.redraw();
  }

  get sight(): Camera {
    return this.camera;
  }

  look(camera: Camera): void {
    this.set(camera);
    this.redraw();
  }

  private set(camera: Camera): void {
    this.fitted = false;
    this.camera = camera;
    this.span = { width: this.width / camera.scale, height: this.height / camera.scale };
  }

  /** Show all variables that are shown. */
  fit(): void {
    if (!this.contents) return;
    this.camera = fit(this.view, this.contents.scene.shown, this.width, this.height);
    this.fitted = true;
    this.redraw();
    this.events.moved(this.camera);
  }

  get isFitted(): boolean {
    return this.fitted;
  }

  zoom(factor: number, x = this.width / 2, y = this.height / 2): void {
    const scale = Math.min(Math.max(this.camera.scale * factor, 0.5), 2000);
    const ratio = 1 / this.camera.scale - 1 / scale;
    this.go({
      x: this.camera.x + (x - this.width / 2) * ratio,
      y: this.camera.y + (y - this.height / 2) * ratio,
      scale,
    });
  }

  /** Bring a variable into sight, if it is not. */
  reveal(nodes: number[]): void {
    const { x, y, scale } = this.camera;
    const room = 60;
    const hidden = nodes.some((i) => {
      const [u, v] = project(this.camera, this.width, this.height, this.view.x[i], this.view.y[i]);
      return u < room || v < room || u > this.width - room || v > this.height - room;
    });
    if (!hidden) return;
    const mean = (values: Float64Array) =>
      nodes.reduce((sum, i) => sum + values[i], 0) / nodes.length;
    const camera = { x: mean(this.view.x), y: mean(this.view.y), scale };
    if (camera.x !== x || camera.y !== y) this.go(camera);
  }

  resize(): void {
    const box = this.canvas.getBoundingClientRect();
    if (!box.width || !box.height) return;
    if (!this.printing) this.reshape(box.width, box.height, window.devicePixelRatio || 1);
  }

  /** Take another size; what was in sight stays there. */
  private reshape(width: number, height: number, ratio: number): void {
    [this.width, this.height] = [width, height];
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    if (this.fitted) return this.fit();
    const { x, y } = this.camera;
    this.camera = { x, y, scale: Math.min(width / this.span.width, height / this.span.height) };
    this.redraw();
  }

  /** Paint the picture for paper, as wide as a page and as high as it needs; or for the screen. */
  print(printing: boolean): void {
    this.printing = printing;
    if (!printing) this.resize();
    else if (this.contents) {
      const { x, y } = this.view;
      const { shown } = this.contents.scene;
      const high = this.fitted ? extent(y, shown) / extent(x, shown) : this.height / this.width;
      const height = PAPER * Math.min(Math.max(high, LEAST_HIGH), MOST_HIGH);
      this.reshape(PAPER, Math.round(height), PAPER_SHARPNESS);
    }
    this.paint();
  }

  /** Return the picture as it is, with everything that is left out while it moves. */
  drawing(): Drawing {
    return draw(this.shot(Infinity));
  }

  redraw(): void {
    if (!this.frame) {
      this.frame = requestAnimationFrame(() => {
        this.frame = 0;
        this.paint();
      });
    }
  }

  private go(camera: Camera): void {
    this.set(camera);
    this.moving = true;
    this.redraw();
    clearTimeout(this.settle);
    this.settle = window.setTimeout(() => {
      this.moving = false;
      this.redraw();
      this.events.moved(this.camera);
    }, SETTLED_AFTER);
  }

  /** Return how far lines are bent; while the picture moves, those that are known will do. */
  private bends({ scene, palette }: Contents): Float64Array {
    const { bent, camera } = this;
    const known = bent?.scene === scene && (this.moving || bent.scale === camera.scale);
    if (bent && known) return bent.bends;
    const bends = bendsOf(this.view, scene, palette, camera.scale);
    this.bent = { bends, scene, scale: camera.scale };
    return bends;
  }

  private shot(mostLines: number): Shot {
    const contents = this.contents as Contents;
    return {
      ...contents,
      bends: this.bends(contents),
      view: this.view,
      camera: this.camera,
      width: this.width,
      height: this.height,
      hovered: this.hovered.node,
      mostLines,
      measure: (text, bold) => this.measure(text, bold),
    };
  }

  private measure(text: string, bold: boolean): number {
    const key = `${+bold}${text}`;
    let width = this.widths.get(key);
    if (width === undefined) {
      this.pen.font = font(bold);
      width = this.pen.measureText(text).width;
      this.widths.set(key, width);
    }
    return width;
  }

  /** Paint now, not with the next frame. */
  paint(): void {
    if (!this.contents || !this.width) return;
    const { scene, palette } = this.contents;
    const ratio = this.canvas.width / this.width;
    const heavy = scene.pairs.length + this.view.names.length > HEAVY;
    if (this.moving && heavy && this.shift(palette, ratio)) return;
    const drawing = draw(this.shot(this.moving ? LINES_MOVING : Infinity));
    paint(this.pen, drawing, palette, ratio);
    this.snapshot = null;
    this.painted = this.camera;
  }

  /** Paint what was there, moved and scaled; return whether that is near enough. */
  private shift(palette: Palette, ratio: number): boolean {
    this.snapshot ??= { image: copyOf(this.canvas), camera: this.painted };
    const { image, camera } = this.snapshot;
    const zoom = this.camera.scale / camera.scale;
    const x = (camera.x - this.camera.x) * this.camera.scale;
    const y = (camera.y - this.camera.y) * this.camera.scale;
    const near = Math.abs(x) < FAR * this.width && Math.abs(y) < FAR * this.height;
    if (!near || zoom > MOST_ZOOM || zoom < 1 / MOST_ZOOM) return false;
    const { pen, width, height } = this;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.globalAlpha = 1;
    pen.fillStyle = palette.paper;
    pen.fillRect(0, 0, width, height);
    const [left, top] = [(width * (1 - zoom)) / 2 + x, (height * (1 - zoom)) / 2 + y];
    pen.drawImage(image, left, top, width * zoom, height * zoom);
    return true;
  }

  private at(x: number, y: number): Pointed {
    if (!this.contents) return { node: -1, pair: -1 };
    const { scene } = this.contents;
    const bends = this.bends(this.contents);
    const n = this.view.names.length;
    const sizes = radii(scene, this.camera.scale);
    const place = (i: number) =>
      project(this.camera, this.width, this.height, this.view.x[i], this.view.y[i]);
    let [node, nearest] = [-1, Infinity];
    for (let i = 0; i < n; i++) {
      if (!scene.shown[i]) continue;
      const [u, v] = place(i);
      const away = Math.hypot(u - x, v - y) - sizes[i];
      if (away < 4 && away < nearest) [node, nearest] = [i, away];
    }
    if (node >= 0) return { node, pair: -1 };
    let [pair, closest] = [-1, NEAR_LINE];
    for (const e of scene.pairs) {
      if (!scene.near[e]) continue;
      const [x1, y1] = place(scene.ends[2 * e]);
      const [x2, y2] = place(scene.ends[2 * e + 1]);
      const away = distance(curve(x1, y1, x2, y2, bends[e] * this.camera.scale), x, y);
      if (away <= closest) [pair, closest] = [e, away];
    }
    return { node: -1, pair };
  }

  private listen(): void {
    const { canvas } = this;
    const here = (event: PointerEvent | WheelEvent) => {
      const box = canvas.getBoundingClientRect();
      return { x: event.clientX - box.left, y: event.clientY - box.top };
    };
    canvas.addEventListener("pointerdown", (event) => {
      this.pointers.set(event.pointerId, here(event));
      this.dragged = 0;
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => this.pointerMoved(event, here(event)));
    const release = (event: PointerEvent) => {
      const held = this.pointers.delete(event.pointerId);
      canvas.classList.remove("dragging");
      if (held && event.type === "pointerup" && this.dragged < 5) {
        const { x, y } = here(event);
        this.events.select(this.at(x, y));
      }
    };
    canvas.addEventListener("pointerup", release);
    canvas.addEventListener("pointercancel", release);
    canvas.addEventListener("pointerleave", () => this.point({ node: -1, pair: -1 }, 0, 0));
    canvas.addEventListener("dblclick", (event) => {
      const box = canvas.getBoundingClientRect();
      this.zoom(1.6, event.clientX - box.left, event.clientY - box.top);
    });
    canvas.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        const { x, y } = here(event);
        const lines = event.deltaMode === 1 ? 16 : 1;
        this.zoom(Math.exp(-event.deltaY * lines * 0.0016), x, y);
      },
      { passive: false },
    );
    canvas.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.resize()).observe(canvas);
  }

  private pointerMoved(event: PointerEvent, now: { x: number; y: number }): void {
    const before = this.pointers.get(event.pointerId);
    if (!before) {
      this.point(this.at(now.x, now.y), now.x, now.y);
      return;
    }
    const others = [...this.pointers].filter(([id]) => id !== event.pointerId);
    this.pointers.set(event.pointerId, now);
    const { x, y, scale } = this.camera;
    this.dragged += Math.hypot(now.x - before.x, now.y - before.y);
    if (others.length === 1) {
      const other = others[0][1];
      const gap = (p: { x: number; y: number }) => Math.hypot(p.x - other.x, p.y - other.y);
      this.zoom(gap(now) / Math.max(gap(before), 1), (now.x + other.x) / 2, (now.y + other.y) / 2);
    } else if (this.dragged >= 5) {
      this.canvas.classList.add("dragging");
      this.go({ x: x - (now.x - before.x) / scale, y: y - (now.y - before.y) / scale, scale });
    }
  }

  private point(what: Pointed, x: number, y: number): void {
    const changed = what.node !== this.hovered.node || what.pair !== this.hovered.pair;
    const renamed = what.node !== this.hovered.node;
    this.hovered = what;
    this.canvas.classList.toggle("pointing", what.node >= 0 || what.pair >= 0);
    if (changed || what.node >= 0 || what.pair >= 0) this.events.hover(what, x, y);
    if (renamed) this.redraw();
  }

  private key(event: KeyboardEvent): void {
    const step = 60 / this.camera.scale;
    const { x, y, scale } = this.camera;
    const acts: Record<string, () => void> = {
      ArrowLeft: () => this.go({ x: x - step, y, scale }),
      ArrowRight: () => this.go({ x: x + step, y, scale }),
      ArrowUp: () => this.go({ x, y: y - step, scale }),
      ArrowDown: () => this.go({ x, y: y + step, scale }),
      "+": () => this.zoom(1.25),
      "=": () => this.zoom(1.25),
      "-": () => this.zoom(0.8),
      "0": () => this.fit(),
    };
    const act = acts[event.key];
    if (act && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      act();
    }
  }
}

/** Return how far apart the first and the last of some places are. */
function extent(values: Float64Array, shown: Uint8Array): number {
  const some = values.filter((_, i) => shown[i]).sort();
  return Math.max(some[some.length - 1] - some[0], 1e-6) || 1;
}

function copyOf(canvas: HTMLCanvasElement): HTMLCanvasElement {
  const image = document.createElement("canvas");
  [image.width, image.height] = [canvas.width, canvas.height];
  image.getContext("2d")?.drawImage(canvas, 0, 0);
  return image;
}
