/** Questions to the networks of the page, answered in a worker so that the page never waits. */

import { answer, mode, type Answer, type Mode } from "./answer";
import { makeNetwork, type Network } from "./network";

export interface Question {
  /** The networks asked, by number. */
  models: number[];
  evidence: ReadonlyMap<number, readonly number[]>;
  /** An edge of each network whose joint probabilities are wanted, -1 for none. */
  pairs: number[];
  /** Whether the most probable joint state is wanted, too. */
  wantsMode: boolean;
}

export interface Reply {
  id: number;
  /** Of each network asked: the answer without evidence, and with it. Null where it has
   * probability zero. */
  priors: (Answer | null)[];
  answers: (Answer | null)[];
  /** Undefined while they are not known yet. */
  modes?: (Mode | null)[];
}

interface Start {
  networks: { cards: Int32Array; edges: Int32Array; weights: Float64Array }[];
}

type Post = (reply: Reply) => void;

/** Answers questions, the latest only: what was asked before it is dropped. */
class Desk {
  private latest = 0;
  private readonly known = new Map<number, Answer | null>();

  constructor(
    private readonly networks: Network[],
    private readonly post: Post,
  ) {}

  ask(id: number, question: Question): void {
    this.latest = id;
    // Let messages that are waiting come first.
    setTimeout(() => id === this.latest && this.reply(id, question), 0);
  }

  private prior(m: number): Answer | null {
    if (!this.known.has(m)) this.known.set(m, answer(this.networks[m], { evidence: new Map() }));
    return this.known.get(m) ?? null;
  }

  private reply(id: number, question: Question): void {
    const { evidence } = question;
    const priors = question.models.map((m) => this.prior(m));
    const answers = question.models.map((m, k) => {
      const pairs = question.pairs[k] >= 0 ? [question.pairs[k]] : [];
      if (!evidence.size && !pairs.length) return priors[k];
      return answer(this.networks[m], { evidence, pairs });
    });
    this.post({ id, priors, answers });
    if (!question.wantsMode) return;
    setTimeout(() => {
      if (id !== this.latest) return;
      const modes = question.models.map((m, k) => {
        const found = answers[k];
        if (!found) return null;
        return mode(this.networks[m], { evidence, engine: found.engine }, found.values);
      });
      this.post({ id, priors, answers, modes });
    }, 0);
  }
}

/** What the worker does: take the networks, then questions. */
export function serve(): void {
  let desk: Desk | null = null;
  self.onmessage = (event: MessageEvent) => {
    if (desk === null) {
      const start = event.data as Start;
      const networks = start.networks.map((n) => makeNetwork(n.cards, n.edges, n.weights));
      desk = new Desk(networks, (reply) => (self as unknown as Worker).postMessage(reply));
    } else {
      desk.ask(event.data.id, event.data.question);
    }
  };
}

/** Asks questions, and passes on the answers to the latest one. */
export class Client {
  private id = 0;
  private send: (id: number, question: Question) => void = () => undefined;

  constructor(networks: Network[], program: string, listen: (reply: Reply) => void) {
    const post = (reply: Reply) => {
      if (reply.id === this.id) listen(reply);
    };
    const here = () => {
      const desk = new Desk(networks, post);
      this.send = (id, question) => desk.ask(id, question);
    };
    try {
      const url = URL.createObjectURL(new Blob([program], { type: "text/javascript" }));
      const worker = new Worker(url);
      worker.onmessage = (event) => post(event.data);
      worker.onerror = here;
      const parts = networks.map(({ cards, edges, weights }) => ({ cards, edges, weights }));
      worker.postMessage({ networks: parts } satisfies Start);
      this.send = (id, question) => worker.postMessage({ id, question });
    } catch {
      here(); // browsers that allow no worker from a file
    }
  }

  ask(question: Question): void {
    this.send(++this.id, question);
  }
}
