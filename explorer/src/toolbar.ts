/** Filters above the picture: which network, strength, q-value, resamples, sign, colours. */

import { groupColour, LIGHT, MOST_GROUPS } from "./colours";
import { modelOf, type Context } from "./context";
import { valuesOf } from "./data";
import { button, fill, h, name } from "./dom";
import { count, percent, short, tiny } from "./format";
import { ownEdges, passes, signs, sizeColumn } from "./scene";
import { START, type Sign } from "./state";

/** q-values are chosen on a logarithmic scale down to this. */
const LEAST_LOG_Q = -12;
const STEPS = 200;

export class Toolbar {
  readonly element = h("div", { class: "toolbar", role: "group", "aria-label": "Filters" });
  private readonly counted = h("span", { class: "counted", role: "status" });
  private updates: (() => void)[] = [];

  constructor(private readonly context: Context) {}

  /** Draw the controls that the model in sight has. */
  reset(): void {
    const { view, store } = this.context;
    const model = modelOf(this.context);
    this.updates = [];
    const parts: (HTMLElement | null)[] = [
      view.models.length > 1 ? this.models() : null,
      this.strength(),
      valuesOf(model.columns, "q_value") ? this.q() : null,
      valuesOf(model.columns, "frequency") ? this.frequency() : null,
      valuesOf(model.columns, "weight") && !model.groups.length ? this.signs() : null,
      view.groupings.length ? this.colours() : null,
      button(
        "Reset",
        () =>
          store.set({
            strength: START.strength,
            q: START.q,
            frequency: START.frequency,
            sign: START.sign,
            ego: START.ego,
            group: START.group,
          }),
        { class: "link", id: "reset" },
      ),
      this.counted,
    ];
    fill(this.element, parts);
    this.update();
  }

  /** Show the state that others may have changed. */
  update(): void {
    for (const update of this.updates) update();
    const model = modelOf(this.context);
    const passing = passes(model, this.context.store.state);
    const shown = passing.reduce((sum, pass) => sum + pass, 0);
    this.counted.textContent = `${shown.toLocaleString("en-US")} of ${count(passing.length, model.noun)}`;
  }

  private models(): HTMLElement {
    const { view, store } = this.context;
    const buttons = view.models.map((model, m) => {
      const made = button("", () => store.set({ model: m, pair: -1 }), { "data-model": m });
      made.append(name(model.label));
      return made;
    });
    this.updates.push(() =>
      buttons.forEach((each, m) =>
        each.setAttribute("aria-pressed", String(m === store.state.model)),
      ),
    );
    return h("div", { class: "segments", role: "group", "aria-label": "Network" }, ...buttons);
  }

  private slider(
    label: string,
    id: string,
    shown: (place: number) => string,
    place: () => number,
    move: (place: number) => void,
  ): HTMLElement {
    const output = h("output", { for: id });
    const input = h("input", {
      type: "range",
      id,
      min: 0,
      max: STEPS,
      step: 1,
      on: { input: () => move(Number(input.value)) },
    });
    this.updates.push(() => {
      input.value = String(Math.round(place()));
      output.textContent = shown(Number(input.value));
      input.setAttribute("aria-valuetext", output.textContent);
    });
    return h("label", { class: "slider" }, h("span", {}, label), input, output);
  }

  private strength(): HTMLElement {
    const { store } = this.context;
    const size = sizeColumn(modelOf(this.context));
    const values = size?.values ?? new Float64Array();
    const top = values.reduce((most, v) => (Number.isFinite(v) ? Math.max(most, v) : most), 1e-9);
    // Most edges are weak: the square gives them more of the way.
    const value = (place: number) => top * (place / STEPS) ** 2;
    return this.slider(
      `${size?.label ?? "Strength"} ≥`,
      "filter-strength",
      (place) => (place ? short(store.state.strength) : "0"),
      () => STEPS * Math.sqrt(Math.min(store.state.strength / top, 1)),
      (place) => store.set({ strength: value(place) }),
    );
  }

  private q(): HTMLElement {
    const { store } = this.context;
    const value = (place: number) =>
      place === STEPS ? 1 : 10 ** (LEAST_LOG_Q * (1 - place / STEPS));
    return this.slider(
      "q ≤",
      "filter-q",
      () => (store.state.q === 1 ? "1" : tiny(store.state.q)),
      () => STEPS * (1 - Math.min(Math.log10(Math.max(store.state.q, 1e-300)) / LEAST_LOG_Q, 1)),
      (place) => store.set({ q: value(place) }),
    );
  }

  private frequency(): HTMLElement {
    const { store } = this.context;
    return this.slider(
      "In resamples ≥",
      "filter-frequency",
      () => percent(store.state.frequency),
      () => STEPS * store.state.frequency,
      (place) => store.set({ frequency: place / STEPS }),
    );
  }

  private signs(): HTMLElement {
    const { store } = this.context;
    const labels: [Sign, string][] = [
      ["all", "all"],
      ["positive", "positive"],
      ["negative", "negative"],
    ];
    const buttons = labels.map(([sign, label]) =>
      button(label, () => store.set({ sign }), { "data-sign": sign }),
    );
    this.updates.push(() =>
      buttons.forEach((each) =>
        each.setAttribute("aria-pressed", String(each.dataset.sign === store.state.sign)),
      ),
    );
    return h("div", { class: "segments", role: "group", "aria-label": "Signs" }, ...buttons);
  }

  private colours(): HTMLElement {
    const { view, store } = this.context;
    const select = h(
      "select",
      {
        id: "colour-by",
        on: { change: () => store.set({ grouping: Number(select.value), group: -1 }) },
      },
      ...view.groupings.map((grouping, g) =>
        h("option", { value: g }, grouping.label.toLowerCase()),
      ),
      h("option", { value: -1 }, "nothing"),
    );
    this.updates.push(() => (select.value = String(store.state.grouping)));
    return h("label", { class: "choice" }, "Colour by", select);
  }
}

/** What the colours and lines of the picture mean; a click on a group brings it to the foreground. */
export class Legend {
  readonly element = h("div", { class: "legend", "aria-label": "Legend", role: "group" });

  constructor(private readonly context: Context) {}

  render(): void {
    const { view, store } = this.context;
    const model = modelOf(this.context);
    const lines: [string, string][] = [];
    const compares = model.groups.length > 0;
    if (compares) lines.push(["differs", "differs between groups"]);
    else if (valuesOf(model.columns, "weight"))
      lines.push(["positive", "positive"], ["negative", "negative"]);
    if (valuesOf(model.columns, "edge")) lines.push(["outside", "in resamples only"]);
    const edges = ownEdges(model);
    const sign = signs(model);
    if (lines.length && edges.some((e) => !sign[e])) {
      lines.push(["unsigned", compares ? "no difference found" : "no sign"]);
    }
    const grouping = view.groupings[store.state.grouping];
    const groups = (grouping?.names ?? []).slice(0, MOST_GROUPS).map((label, k) => {
      const chosen = store.state.group === k;
      const made = button("", () => store.set({ group: chosen ? -1 : k, node: -1, pair: -1 }), {
        class: "group",
        "aria-pressed": chosen,
        "data-group": k,
      });
      made.append(
        h("span", { class: "dot", vars: { colour: groupColour(k, LIGHT) } }),
        name(label),
      );
      return made;
    });
    fill(this.element, [
      groups.length > 0 && h("span", { class: "lead" }, grouping.label),
      ...groups,
      ...lines.map(([kind, text]) =>
        h("span", { class: "line-key" }, h("span", { class: `line ${kind}` }), text),
      ),
      h("span", { class: "line-key" }, compares ? "wider: larger difference" : "wider: stronger"),
    ]);
  }
}
