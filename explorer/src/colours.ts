/** Colours, safe for the colour-blind: of groups, of signs, of paper and ink. */

/** Ten hues after Okabe and Ito and Tol; groups beyond share the grey of those without one. */
const GROUPS = [
  "#4477aa", "#ee8866", "#228833", "#aa3377", "#ccbb44",
  "#66ccee", "#882255", "#44aa99", "#999933", "#bb5566",
]; // prettier-ignore

export interface Palette {
  paper: string;
  ink: string;
  pale: string;
  line: string;
  node: string;
  positive: string;
  negative: string;
  unsigned: string;
  differs: string;
  accent: string;
}

/** The signs' colours are those of figures.py and groups_plot.py; dark ones are lighter. */
export const LIGHT: Palette = {
  paper: "#ffffff",
  ink: "#1d2430",
  pale: "#667085",
  line: "#d8dde5",
  node: "#8d97a5",
  positive: "#2b6cb0",
  negative: "#c0392b",
  unsigned: "#5f6b7a",
  differs: "#d55e00",
  accent: "#0b6e6e",
};

export const DARK: Palette = {
  paper: "#14181f",
  ink: "#e7ebf1",
  pale: "#98a2b3",
  line: "#323a46",
  node: "#7d8898",
  positive: "#6fb1f0",
  negative: "#ff857a",
  unsigned: "#9aa5b5",
  differs: "#ffb340",
  accent: "#5fd0c5",
};

export function groupColour(group: number, palette: Palette): string {
  return group >= 0 && group < GROUPS.length ? GROUPS[group] : palette.node;
}

export const MOST_GROUPS = GROUPS.length;
