/** The picture as a file. */

import type { Palette } from "./colours";
import type { Drawing } from "./drawing";
import { paint } from "./paint";
import { toSvg } from "./svg";
import { download } from "./tables";

/** PNG files have this many pixels for one of the screen. */
const SHARPNESS = 2;

export function fileName(title: string, ending: string): string {
  const stem = title.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "");
  return `${Array.from(stem || "network")
    .slice(0, 60)
    .join("")}.${ending}`;
}

export function saveSvg(drawing: Drawing, palette: Palette, title: string): void {
  const text = toSvg(drawing, palette, title);
  download(new Blob([text], { type: "image/svg+xml" }), fileName(title, "svg"));
}

export function savePng(drawing: Drawing, palette: Palette, title: string): void {
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(drawing.width * SHARPNESS);
  canvas.height = Math.round(drawing.height * SHARPNESS);
  paint(canvas.getContext("2d") as CanvasRenderingContext2D, drawing, palette, SHARPNESS);
  canvas.toBlob((blob) => blob && download(blob, fileName(title, "png")), "image/png");
}
