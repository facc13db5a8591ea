/** What the user has chosen, as a value, and as the part of the address behind #. */

import { MOST_GROUPS } from "./colours";

export type Tab = "details" | "edges" | "variables" | "whatif";
export type Sign = "all" | "positive" | "negative";

export interface State {
  model: number;
  /** The selected variable, the selected pair; -1 for none. */
  node: number;
  pair: number;
  /** Steps around the selected variable that are shown; 0 for all. */
  ego: number;
  /** Filters of pairs: least strength, largest q-value, least share of resamples, sign. */
  strength: number;
  q: number;
  frequency: number;
  sign: Sign;
  /** What variables are coloured by; -1 for nothing. */
  grouping: number;
  /** The group in the foreground; -1 for all. */
  group: number;
  /** Likelihood weights of the states of observed variables. */
  evidence: ReadonlyMap<number, readonly number[]>;
  tab: Tab;
  /** The middle of the picture and its scale; null to fit everything. */
  camera: readonly [number, number, number] | null;
}

export const START: State = {
  model: 0,
  node: -1,
  pair: -1,
  ego: 0,
  strength: 0,
  q: 1,
  frequency: 0,
  sign: "all",
  grouping: 0,
  group: -1,
  evidence: new Map(),
  tab: "details",
  camera: null,
};

/** The sizes that keep numbers of a link within what there is. */
export interface Bounds {
  pairs: number[];
  states: number[];
  groupings: number;
}

const TABS: readonly Tab[] = ["details", "edges", "variables", "whatif"];
const SIGNS: readonly Sign[] = ["all", "positive", "negative"];
const NUMBERS = [
  ["m", "model"],
  ["v", "node"],
  ["e", "pair"],
  ["ego", "ego"],
  ["s", "strength"],
  ["q", "q"],
  ["f", "frequency"],
  ["c", "grouping"],
  ["g", "group"],
] as const;

/** Return the part of an address that says what was chosen; what is as at the start is left out. */
export function encodeState(state: State): string {
  const parts: string[] = [];
  for (const [key, field] of NUMBERS) {
    if (state[field] !== START[field]) parts.push(`${key}=${state[field]}`);
  }
  if (state.sign !== START.sign) parts.push(`sign=${state.sign}`);
  if (state.tab !== START.tab) parts.push(`tab=${state.tab}`);
  if (state.evidence.size) {
    const listed = [...state.evidence].map(([i, weights]) => `${i}:${weights.join(",")}`);
    parts.push(`if=${listed.join(";")}`);
  }
  if (state.camera) parts.push(`at=${state.camera.map((x) => +x.toPrecision(6)).join(",")}`);
  return parts.join("&");
}

/** Return what a link says; what is not there, or makes no sense, is as at the start. */
export function decodeState(text: string, bounds: Bounds): State {
  const given = new Map(
    text
      .replace(/^#/, "")
      .split("&")
      .map((part) => part.split("=") as [string, string]),
  );
  const number = (key: string, least: number, most: number, otherwise: number, whole = true) => {
    const value = Number(given.get(key) ?? NaN);
    const fits = value >= least && value <= most && (!whole || Number.isInteger(value));
    return fits ? value : otherwise;
  };
  const model = number("m", 0, bounds.pairs.length - 1, 0);
  const one = <T extends string>(key: string, among: readonly T[], otherwise: T): T =>
    among.find((value) => value === given.get(key)) ?? otherwise;
  return {
    model,
    node: number("v", 0, bounds.states.length - 1, -1),
    pair: number("e", 0, bounds.pairs[model] - 1, -1),
    ego: number("ego", 0, 3, 0),
    strength: number("s", 0, Infinity, 0, false),
    q: number("q", 0, 1, 1, false),
    frequency: number("f", 0, 1, 0, false),
    grouping: number("c", -1, bounds.groupings - 1, START.grouping),
    group: number("g", 0, MOST_GROUPS * 1000, -1),
    sign: one("sign", SIGNS, "all"),
    tab: one("tab", TABS, "details"),
    evidence: decodeEvidence(given.get("if") ?? "", bounds.states),
    camera: decodeCamera(given.get("at")),
  };
}

function decodeEvidence(text: string, states: number[]): Map<number, number[]> {
  const out = new Map<number, number[]>();
  for (const part of text.split(";")) {
    const [variable, listed] = part.split(":");
    const weights = (listed ?? "").split(",").map(Number);
    const i = Number(variable);
    const fits = variable !== "" && Number.isInteger(i) && weights.length === states[i];
    if (fits && weights.every((w) => w >= 0 && w <= 1) && weights.some((w) => w > 0)) {
      out.set(i, weights);
    }
  }
  return out;
}

function decodeCamera(text: string | undefined): State["camera"] {
  const numbers = (text ?? "").split(",").map(Number);
  const fits = text && numbers.length === 3 && numbers.every(Number.isFinite) && numbers[2] > 0;
  return fits ? [numbers[0], numbers[1], numbers[2]] : null;
}

export type Listener = (state: State, before: State) => void;

/** The current state, and those who are told when it changes. */
export class Store {
  private readonly listeners: Listener[] = [];

  constructor(private current: State) {}

  get state(): State {
    return this.current;
  }

  set(change: Partial<State>): void {
    const before = this.current;
    this.current = { ...before, ...change };
    for (const listener of this.listeners) listener(this.current, before);
  }

  listen(listener: Listener): void {
    this.listeners.push(listener);
  }
}

/** Return evidence with one variable's weights replaced; weights that are all equal say nothing. */
export function withEvidence(
  evidence: State["evidence"],
  variable: number,
  weights: readonly number[] | null,
): Map<number, readonly number[]> {
  const out = new Map(evidence);
  if (weights === null || weights.every((w) => w === weights[0])) out.delete(variable);
  else out.set(variable, weights);
  return out;
}

/** Return the observed state, -1 if there is none or several are possible. */
export function observedState(weights: readonly number[] | undefined): number {
  if (!weights || weights.filter((w) => w > 0).length !== 1) return -1;
  return weights.findIndex((w) => w > 0);
}
