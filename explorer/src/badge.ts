/** Says how the probabilities were computed, and what evidence there is. */

import { evidenceWords, statesOf, type Context } from "./context";
import { frequencies } from "./data";
import { button, fill, h, name } from "./dom";
import { withEvidence } from "./state";

/** The strip above the tabs: evidence as chips, and the badge. */
export class EvidenceStrip {
  private readonly chips = h("div", { class: "chips" });
  private readonly badge = h("span", { class: "badge", role: "status" });
  readonly element: HTMLElement;

  constructor(private readonly context: Context) {
    this.element = h(
      "section",
      { class: "evidence", "aria-label": "Evidence" },
      this.chips,
      this.badge,
    );
  }

  render(): void {
    const { oracle, store, view } = this.context;
    this.element.hidden = !oracle.answers;
    if (!oracle.answers) return;
    const { evidence } = store.state;
    const chips = [...evidence].map(([i, weights]) => {
      const words = evidenceWords(weights, statesOf(this.context, i));
      const label = button("", () => this.context.selectNode(i), { class: "chip-name" });
      fill(label, [name(view.names[i]), " = ", name(words)]);
      const close = button("×", () => store.set({ evidence: withEvidence(evidence, i, null) }), {
        class: "chip-close",
        "aria-label": `Take back what is observed of ${view.names[i]}`,
      });
      return h("span", { class: "chip" }, label, close);
    });
    fill(
      this.chips,
      chips.length
        ? [
            h("span", { class: "lead" }, "What if"),
            ...chips,
            button("Clear", () => store.set({ evidence: new Map() }), {
              class: "link",
              id: "clear-evidence",
            }),
          ]
        : [h("span", { class: "hint" }, "What if? Select a variable and click one of its states.")],
    );
    this.renderBadge();
  }

  private renderBadge(): void {
    const { oracle } = this.context;
    const { text, kind, about } = badgeOf(this.context);
    this.badge.textContent = text;
    this.badge.className = `badge ${kind}`;
    this.badge.title = about;
    this.badge.dataset.waiting = String(oracle.isWaiting);
  }
}

/** Differences from the rows below these are not seen in a number, small, or tolerable. */
const [SAME, NEAR, FAR] = [0.0005, 0.01, 0.03];

interface Badge {
  text: string;
  kind: "exact" | "approximate" | "poor" | "waiting";
  about: string;
}

const EXACT = "The arithmetic is exact (a junction tree).";

/** Return how far exactly computed answers are from the rows, as far as that is known. */
function exactly(context: Context): Badge {
  const { oracle, view, store } = context;
  const errors = oracle.asked(store.state).map((m) => view.models[m].rows?.error ?? null);
  if (errors.some((error) => error === null)) {
    const about = `${EXACT} How close the network is to its rows is not known here.`;
    return { text: "exact arithmetic", kind: "exact", about };
  }
  return distance(Math.max(...(errors as number[])), EXACT, "exact");
}

/** Return a badge that says how far answers without evidence are from the rows. */
function distance(error: number, how: string, kind: Badge["kind"]): Badge {
  const points = `${(100 * error).toFixed(1)} points`;
  const about = `${how} Without evidence, no state's probability is further than ${points} from its frequency in the rows. Given evidence, probabilities follow from the edges.`;
  if (error < SAME) return { text: "margins as in the data", kind, about };
  return error <= NEAR
    ? { text: `within ${points} of the data`, kind, about }
    : { text: `up to ${points} off the data`, kind: error <= FAR ? "approximate" : "poor", about };
}

/** The largest difference between the answers without evidence and the rows; null if unknown. */
function shownError({ oracle, view, store }: Context): number | null {
  let most = 0;
  for (const [k, m] of oracle.asked(store.state).entries()) {
    const { rows, network } = view.models[m];
    const values = oracle.latest?.priors[k]?.values;
    if (!rows || !network || !values) return null;
    for (let i = 0; i < network.cards.length; i++) {
      const at = network.unaryOffsets[i];
      const seen = frequencies(rows, network, i, null);
      seen?.forEach((share, a) => (most = Math.max(most, Math.abs(share - values[at + a]))));
    }
  }
  return most;
}

/** Return how the latest answers were computed. */
export function badgeOf(context: Context): Badge {
  const { oracle, view, store } = context;
  const reply = oracle.latest;
  if (!reply) return { text: "computing …", kind: "waiting", about: "" };
  if (reply.answers.some((each) => each === null)) {
    return {
      text: "impossible",
      kind: "poor",
      about: "This evidence has probability zero under the network: take some of it back.",
    };
  }
  const answers = reply.answers.flatMap((each) => each ?? []);
  if (answers.every((each) => each.engine === "exact")) {
    return exactly(context);
  }
  const loopy = answers.filter((each) => each.engine === "bp");
  const settled = loopy.every((each) => each.converged);
  const barred = oracle
    .asked(store.state)
    .some((m) => view.models[m].network?.weights.some((w) => w === -Infinity));
  const caution = barred
    ? " Some states exclude each other, and evidence that contradicts them may go unnoticed."
    : "";
  const sweeps = Math.max(...loopy.map((each) => each.sweeps));
  const large = "Exact inference is too large for this network:";
  const error = shownError(context);
  if (!settled) {
    return {
      text: "approximate · not converged",
      kind: store.state.evidence.size ? "poor" : "approximate",
      about: `${large} loopy belief propagation did not converge in ${sweeps} sweeps, and these numbers may be poor.${caution}`,
    };
  }
  const drawn = answers.filter((each) => each.engine === "sampled");
  const noise = `${(100 * Math.max(...drawn.map((each) => each.noise))).toFixed(1)} points`;
  const how = drawn.length
    ? `${large} joint states were drawn, with a standard error of up to ${noise}.${caution}`
    : `${large} loopy belief propagation, converged after ${sweeps} sweeps.${caution}`;
  const word = drawn.length ? "sampled" : "approximate";
  if (error === null) {
    const text = drawn.length ? `sampled · ± ${noise}` : "approximate · converged";
    return { text, kind: "approximate", about: how };
  }
  const found = distance(error, how, "approximate");
  return { ...found, text: `${word} · ${found.text}` };
}
