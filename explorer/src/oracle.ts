/** What the networks answer to the evidence of the moment. */

import type { NetworkView } from "./data";
import { Client, type Reply } from "./inference/client";
import type { Network } from "./inference/network";
import type { State, Store } from "./state";

/** Keeps the latest answers, and asks again whenever the question changes. */
export class Oracle {
  private reply: Reply | null = null;
  private waiting = false;
  private readonly client: Client | null;
  private readonly numbers: number[];

  constructor(
    private readonly view: NetworkView,
    private readonly store: Store,
    program: string,
    private readonly told: () => void,
  ) {
    const networks = view.models.flatMap((model) => model.network ?? []);
    let next = 0;
    this.numbers = view.models.map((model) => (model.network ? next++ : -1));
    const listen = (reply: Reply) => {
      this.reply = reply;
      this.waiting = false;
      told();
    };
    this.client = networks.length ? new Client(networks, program, listen) : null;
    store.listen((state, before) => {
      const changed =
        state.model !== before.model ||
        state.evidence !== before.evidence ||
        state.pair !== before.pair ||
        (state.tab !== before.tab && state.tab === "whatif");
      if (changed) this.ask(state.model !== before.model);
    });
  }

  /** Whether the model in sight, or the groups it compares, can be asked. */
  get answers(): boolean {
    return this.asked(this.store.state).length > 0;
  }

  /** The models that answer now: that in sight, or those of the groups it compares. */
  asked(state: State): number[] {
    const model = this.view.models[state.model];
    return model.groups.length ? model.groups : model.network ? [state.model] : [];
  }

  get isWaiting(): boolean {
    return this.waiting;
  }

  get latest(): Reply | null {
    return this.reply;
  }

  ask(forget = false): void {
    const state = this.store.state;
    const asked = this.asked(state);
    if (!this.client || !asked.length) {
      this.reply = null;
      return;
    }
    if (forget) this.reply = null;
    this.waiting = true;
    this.client.ask({
      models: asked.map((m) => this.numbers[m]),
      evidence: state.evidence,
      pairs: asked.map((m) => this.edge(m, state)),
      wantsMode: state.tab === "whatif",
    });
    this.told();
  }

  /** The edge of a model that the selected pair is, -1 if there is none. */
  edge(m: number, state: State): number {
    if (state.pair < 0) return -1;
    const { pairs } = this.view.models[state.model];
    const [i, j] = [pairs[2 * state.pair], pairs[2 * state.pair + 1]];
    return findEdge(this.view.models[m].network, i, j);
  }

  /** How far evidence moved each variable: the total variation distance of its probabilities. */
  movement(): Float64Array | null {
    const prior = this.reply?.priors[0];
    const answer = this.reply?.answers[0];
    const network = this.view.models[this.asked(this.store.state)[0]]?.network;
    if (!prior || !answer || !network || !this.store.state.evidence.size) return null;
    return Float64Array.from(network.cards, (states, i) => {
      let total = 0;
      for (let a = 0; a < states; a++) {
        const at = network.unaryOffsets[i] + a;
        total += Math.abs(prior.values[at] - answer.values[at]) / 2;
      }
      return total;
    });
  }
}

function findEdge(network: Network | null, i: number, j: number): number {
  if (!network) return -1;
  for (let e = 0; e < network.edges.length / 2; e++) {
    if (network.edges[2 * e] === i && network.edges[2 * e + 1] === j) return e;
  }
  return -1;
}
