/** What all parts of the page share. */

import { frequencies, type Model, type NetworkView } from "./data";
import type { Series } from "./marginal";
import type { Oracle } from "./oracle";
import { observedState, withEvidence, type State, type Store } from "./state";

export interface Context {
  view: NetworkView;
  store: Store;
  oracle: Oracle;
  selectNode: (node: number) => void;
  selectPair: (pair: number) => void;
}

export function modelOf(context: Context): Model {
  return context.view.models[context.store.state.model];
}

/** Return the states of a variable in the models that answer. */
export function statesOf(context: Context, node: number): string[] {
  const { state } = context.store;
  const asked = context.oracle.asked(state);
  return context.view.models[asked[0] ?? state.model].states[node];
}

/** Return what is shown of a variable: before and after evidence, or each group. */
export function seriesOf(context: Context, node: number): Series[] {
  const { view, oracle, store } = context;
  const asked = oracle.asked(store.state);
  const reply = oracle.latest;
  const part = (m: number, values: Float64Array | undefined) => {
    const network = view.models[m].network;
    if (!values || !network) return null;
    return values.subarray(network.unaryOffsets[node], network.unaryOffsets[node + 1]);
  };
  if (asked.length > 1) {
    return asked.map((m, k) => ({
      label: view.models[m].label,
      values: part(m, reply?.answers[k]?.values),
      written: true,
    }));
  }
  const prior = part(asked[0], reply?.priors[0]?.values);
  if (!store.state.evidence.size) return [{ label: "probability", values: prior, written: true }];
  const values = part(asked[0], reply?.answers[0]?.values);
  return [
    { label: "before", values: prior, written: false },
    { label: "given the evidence", values, written: true },
  ];
}

/** Return how often a variable's states occur in the rows; null where that is not known. */
export function dataOf(context: Context, node: number): Float64Array | null {
  const { view, oracle, store } = context;
  const asked = oracle.asked(store.state);
  const { rows, network } = view.models[asked[0] ?? store.state.model];
  const { evidence } = store.state;
  if (asked.length !== 1 || !rows || !network || evidence.size > 1) return null;
  const [first] = evidence;
  if (!first) return frequencies(rows, network, node, null);
  const state = observedState(first[1]);
  return state < 0 ? null : frequencies(rows, network, node, { node: first[0], state });
}

export function observe(context: Context, node: number, weights: number[] | null): void {
  const { store } = context;
  store.set({ evidence: withEvidence(store.state.evidence, node, weights) });
}

/** Return what evidence says of a variable, in a few words. */
export function evidenceWords(weights: readonly number[], states: string[]): string {
  const hard = observedState(weights);
  return hard >= 0 ? states[hard] : "weighed";
}

/** Whether two states differ in which pairs pass the filters. */
export function refilters(state: State, before: State): boolean {
  const fields = ["model", "strength", "q", "frequency", "sign"] as const;
  return fields.some((field) => state[field] !== before[field]);
}

/** Whether two states differ in what the picture shows. */
export function redraws(state: State, before: State): boolean {
  const fields = [
    "model", "node", "pair", "ego", "strength", "q", "frequency", "sign", "grouping", "group",
    "evidence",
  ] as const; // prettier-ignore
  return fields.some((field) => state[field] !== before[field]);
}
