/** A drawing on a canvas. */

import type { Palette } from "./colours";
import { FONT, type Disc, type Drawing } from "./drawing";
import { FAMILY, LEADER } from "./svg";

export function font(bold: boolean): string {
  return `${bold ? "600 " : ""}${FONT}px ${FAMILY}`;
}

/** Paint a drawing on a canvas whose pixels are so many to a unit. */
export function paint(
  pen: CanvasRenderingContext2D,
  drawing: Drawing,
  palette: Palette,
  ratio: number,
): void {
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.globalAlpha = 1;
  pen.fillStyle = palette.paper;
  pen.fillRect(0, 0, drawing.width, drawing.height);
  for (const line of drawing.lines) {
    pen.globalAlpha = Math.min(line.alpha, 1);
    pen.strokeStyle = line.colour;
    pen.lineWidth = line.width;
    pen.setLineDash(line.dash);
    pen.beginPath();
    pen.moveTo(line.x1, line.y1);
    if (line.bent) pen.quadraticCurveTo(line.cx, line.cy, line.x2, line.y2);
    else pen.lineTo(line.x2, line.y2);
    pen.stroke();
  }
  pen.setLineDash([]);
  pen.globalAlpha = 1;
  pen.strokeStyle = palette.pale;
  pen.lineWidth = LEADER;
  for (const { leader } of drawing.labels) {
    if (!leader) continue;
    pen.beginPath();
    pen.moveTo(leader[0], leader[1]);
    pen.lineTo(leader[2], leader[3]);
    pen.stroke();
  }
  for (const disc of drawing.discs) paintDisc(pen, disc, palette);
  pen.globalAlpha = 1;
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.lineJoin = "round";
  pen.strokeStyle = palette.paper;
  pen.fillStyle = palette.ink;
  pen.lineWidth = 3;
  for (const label of drawing.labels) {
    pen.font = font(label.bold);
    pen.strokeText(label.text, label.x, label.y);
    pen.fillText(label.text, label.x, label.y);
  }
}

function paintDisc(pen: CanvasRenderingContext2D, disc: Disc, palette: Palette): void {
  pen.globalAlpha = 1;
  pen.beginPath();
  pen.arc(disc.x, disc.y, disc.radius + 1.2, 0, 2 * Math.PI);
  pen.fillStyle = palette.paper;
  pen.fill();
  pen.globalAlpha = disc.alpha;
  pen.beginPath();
  pen.arc(disc.x, disc.y, disc.radius, 0, 2 * Math.PI);
  pen.fillStyle = disc.colour;
  pen.fill();
  if (disc.moved > 0.005 && !disc.observed) {
    pen.globalAlpha = 1;
    pen.beginPath();
    pen.arc(disc.x, disc.y, disc.radius + 3, -Math.PI / 2, (2 * disc.moved - 0.5) * Math.PI);
    pen.strokeStyle = palette.ink;
    pen.lineWidth = 2.2;
    pen.stroke();
  }
  if (disc.selected || disc.observed) {
    pen.globalAlpha = 1;
    pen.beginPath();
    if (disc.observed) {
      const side = disc.radius + 4;
      pen.rect(disc.x - side, disc.y - side, 2 * side, 2 * side);
    } else {
      pen.arc(disc.x, disc.y, disc.radius + 1.5, 0, 2 * Math.PI);
    }
    pen.strokeStyle = palette.ink;
    pen.lineWidth = disc.selected ? 2.5 : 1.6;
    pen.stroke();
  }
}
