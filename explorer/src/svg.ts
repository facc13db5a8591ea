/** A picture as an SVG file. */

import type { Palette } from "./colours";
import { FONT, type Disc, type Drawing, type Line } from "./drawing";

export const FAMILY = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif";

function escape(text: string): string {
  return (
    text
      .replaceAll("&", "&amp;")
      .replaceAll("<", "&lt;")
      .replaceAll(">", "&gt;")
      .replaceAll('"', "&quot;")
      // Characters that XML does not know.
      // eslint-disable-next-line no-control-regex
      .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "�")
  );
}

const r = (value: number) => String(Math.round(100 * value) / 100);

export function toSvg(drawing: Drawing, palette: Palette, title: string): string {
  const { width, height } = drawing;
  const lines = drawing.lines.map(
    (line) =>
      `${way(line)} stroke="${line.colour}" stroke-width="${r(line.width)}" stroke-opacity="${r(line.alpha)}"` +
      `${line.dash.length ? ` stroke-dasharray="${line.dash.map(r).join(" ")}"` : ""}/>`,
  );
  const discs = drawing.discs.flatMap((disc) => [
    `<circle cx="${r(disc.x)}" cy="${r(disc.y)}" r="${r(disc.radius)}" fill="${disc.colour}" ` +
      `fill-opacity="${disc.alpha}" stroke="${disc.selected ? palette.ink : palette.paper}" ` +
      `stroke-width="${disc.selected ? 2.5 : 1.2}"/>`,
    ...(disc.observed ? [square(disc, palette)] : disc.moved > 0.005 ? [arc(disc, palette)] : []),
  ]);
  const leaders = drawing.labels.flatMap(({ leader }) =>
    leader ? [`<path d="M${r(leader[0])} ${r(leader[1])}L${r(leader[2])} ${r(leader[3])}"/>`] : [],
  );
  const labels = drawing.labels.map(
    (label) =>
      `<text x="${r(label.x)}" y="${r(label.y)}"${label.bold ? ' font-weight="600"' : ""}>` +
      `${escape(label.text)}</text>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${r(width)}" height="${r(height)}" ` +
      `viewBox="0 0 ${r(width)} ${r(height)}" font-family="${escape(FAMILY)}" font-size="${FONT}">`,
    `<title>${escape(title)}</title>`,
    `<rect width="100%" height="100%" fill="${palette.paper}"/>`,
    `<g stroke-linecap="butt">`,
    ...lines,
    `</g><g stroke="${palette.pale}" stroke-width="${LEADER}">`,
    ...leaders,
    `</g><g>`,
    ...discs,
    `</g><g fill="${palette.ink}" text-anchor="middle" dominant-baseline="central" ` +
      `stroke="${palette.paper}" stroke-width="3" paint-order="stroke" stroke-linejoin="round">`,
    ...labels,
    `</g></svg>`,
  ].join("\n");
}

/** Width of the line from a disc to a label that is not beside it. */
export const LEADER = 0.7;

/** A straight line, or a path with one control point. */
function way({ bent, x1, y1, cx, cy, x2, y2 }: Line): string {
  return bent
    ? `<path d="M${r(x1)} ${r(y1)}Q${r(cx)} ${r(cy)} ${r(x2)} ${r(y2)}" fill="none"`
    : `<line x1="${r(x1)}" y1="${r(y1)}" x2="${r(x2)}" y2="${r(y2)}"`;
}

/** A square around what is observed. */
function square(disc: Disc, palette: Palette): string {
  const side = disc.radius + 4;
  return (
    `<rect x="${r(disc.x - side)}" y="${r(disc.y - side)}" width="${r(2 * side)}" ` +
    `height="${r(2 * side)}" fill="none" stroke="${palette.ink}" stroke-width="1.6"/>`
  );
}

/** An arc as long as evidence moved the variable. */
function arc(disc: Disc, palette: Palette): string {
  const radius = disc.radius + 3;
  const turn = 2 * Math.PI * Math.min(disc.moved, 0.999);
  const x = disc.x + radius * Math.sin(turn);
  const y = disc.y - radius * Math.cos(turn);
  return (
    `<path d="M${r(disc.x)} ${r(disc.y - radius)}A${r(radius)} ${r(radius)} 0 ` +
    `${turn > Math.PI ? 1 : 0} 1 ${r(x)} ${r(y)}" fill="none" stroke="${palette.ink}" stroke-width="2.2"/>`
  );
}
