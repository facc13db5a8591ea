/** The probabilities of a variable's states as bars; a click on a state observes it. */

import { button, fill, h, setVars } from "./dom";
import { percent } from "./format";
import { observedState } from "./state";

/** Probabilities to show side by side, such as before and after, or of each group. */
export interface Series {
  label: string;
  /** Of the states of one variable; null while they are not known. */
  values: ArrayLike<number> | null;
  /** Whether its numbers are written; bars alone are enough for what was before. */
  written: boolean;
}

export interface MarginalOptions {
  name: string;
  states: string[];
  /** Called with the weights that evidence about this variable now has; null for none. */
  observe: (weights: number[] | null) => void;
  /** Show at most so many states unless asked for more. */
  most?: number;
}

interface Row {
  element: HTMLElement;
  observe: HTMLButtonElement;
  bars: HTMLElement;
  number: HTMLElement;
  mark: HTMLElement;
  data: HTMLElement;
  slider: HTMLInputElement;
}

/** A list of states with their bars, which is updated in place so that the focus stays. */
export class Marginal {
  readonly element: HTMLElement;
  private readonly rows: Row[];
  private readonly soft: HTMLInputElement;
  private weights: readonly number[] | undefined;
  private expanded = false;
  private readonly more: HTMLButtonElement;

  constructor(private readonly options: MarginalOptions) {
    this.rows = options.states.map((state, a) => this.row(state, a));
    const most = options.most ?? Infinity;
    const left = options.states.length - most;
    this.more = button(this.moreWords(), () => this.expand(), { class: "link" });
    const longest = Math.max(...options.states.map((state) => state.length));
    this.soft = h("input", { type: "checkbox", on: { change: () => this.toggleSoft() } });
    const softly = h(
      "label",
      {
        class: "softly",
        title: "Weigh the states instead of observing one: a likelihood for each",
      },
      this.soft,
      "weigh states",
    );
    this.element = h(
      "div",
      {
        class: "marginal",
        role: "group",
        "aria-label": `States of ${options.name}`,
        vars: { letters: String(Math.min(Math.max(longest, 3), 24)) },
      },
      h("ul", { class: "states" }, ...this.rows.map((row) => row.element)),
      left > 0 && this.more,
      options.states.length > 1 && softly,
    );
    this.hide([]);
  }

  /**
   * Show probabilities, how often states occur in the rows if that is known, and evidence; best is
   * the state in the most probable joint state, or -1.
   */
  update(
    series: Series[],
    data: ArrayLike<number> | null,
    weights: readonly number[] | undefined,
    best: number,
  ): void {
    this.weights = weights;
    const hard = observedState(weights);
    if (weights && hard < 0) this.soft.checked = true;
    else if (hard >= 0) this.soft.checked = false;
    this.element.classList.toggle("soft", this.soft.checked);
    const last = series[series.length - 1];
    const written = series.filter((each) => each.written).length;
    setVars(this.element, { numbers: String(Math.max(written, 1)), data: data ? "76px" : "0px" });
    this.rows.forEach((row, a) => {
      row.observe.setAttribute("aria-pressed", String(a === hard));
      row.element.classList.toggle("observed", a === hard);
      if (row.bars.childElementCount !== series.length) {
        fill(
          row.bars,
          series.map((_, k) => h("span", { class: `bar bar-${k}` })),
        );
      }
      series.forEach(({ label, values }, k) => {
        const bar = row.bars.children[k] as HTMLElement;
        setVars(bar, { share: values ? String(values[a]) : "0" });
        bar.title = `${label}: ${values ? percent(values[a]) : "…"}`;
      });
      const value = last?.values?.[a];
      row.number.textContent = series
        .filter((each) => each.written && each.values)
        .map((each) => percent(each.values?.[a] ?? NaN))
        .join(" · ");
      row.number.dataset.value = value === undefined ? "" : String(value);
      row.data.textContent = data ? `data ${percent(data[a])}` : "";
      row.mark.textContent = a === best ? "◆" : "";
      row.slider.value = String(weights ? weights[a] : 1);
    });
    this.hide([hard, best]);
  }

  /** Hide all but the first states, unless they are all wanted, and those that matter. */
  private hide(matter: number[]): void {
    const most = this.expanded ? Infinity : (this.options.most ?? Infinity);
    this.rows.forEach((row, a) => (row.element.hidden = a >= most && !matter.includes(a)));
  }

  private moreWords(): string {
    const left = this.options.states.length - (this.options.most ?? 0);
    return `${left} more ${left === 1 ? "state" : "states"}`;
  }

  private row(state: string, a: number): Row {
    const number = h("span", { class: "number" });
    const bars = h("span", { class: "bars", "aria-hidden": "true" });
    const mark = h("span", { class: "mark", title: "In the most probable joint state" });
    const data = h("span", { class: "seen", title: "How often it occurs in the rows" });
    const observe = h(
      "button",
      {
        type: "button",
        class: "state",
        "aria-pressed": "false",
        "data-state": a,
        title: `${state}: click to observe it, again to take it back`,
        on: { click: () => this.observe(a) },
      },
      h("bdi", { class: "state-name" }, state),
      bars,
      mark,
      number,
      data,
    );
    const slider = h("input", {
      type: "range",
      min: 0,
      max: 1,
      step: 0.01,
      value: 1,
      class: "likelihood",
      "aria-label": `Likelihood of ${state}`,
      on: { input: () => this.weigh(a) },
    });
    return { element: h("li", {}, observe, slider), observe, bars, number, mark, data, slider };
  }

  private observe(a: number): void {
    const again = observedState(this.weights) === a;
    this.soft.checked = false;
    const weights: number[] = this.options.states.map((_, b) => +(b === a));
    this.options.observe(again ? null : weights);
  }

  private weigh(a: number): void {
    const weights: number[] = this.rows.map((row) => Number(row.slider.value));
    // All zero would be a contradiction: the last one stays possible.
    if (Math.max(...weights) === 0) weights[a] = 0.01;
    this.options.observe(weights);
  }

  private toggleSoft(): void {
    this.element.classList.toggle("soft", this.soft.checked);
    if (!this.soft.checked && this.weights) this.options.observe(null);
  }

  private expand(): void {
    this.expanded = !this.expanded;
    this.hide([observedState(this.weights)]);
    this.more.textContent = this.expanded ? "fewer states" : this.moreWords();
  }
}
