/** A box to find variables by name. */

import { fill, h, name } from "./dom";
import { folded } from "./format";

const MOST = 12;

/** Return the variables whose names have a text in them, whatever accents and case: those that begin with it first. */
export function findNames(names: string[], text: string, most = MOST): number[] {
  const wanted = folded(text.trim());
  if (!wanted) return [];
  const scored: [number, number][] = [];
  names.forEach((each, i) => {
    const own = folded(each);
    const place = own.indexOf(wanted);
    if (place >= 0) scored.push([place === 0 ? (own === wanted ? 0 : 1) : 2, i]);
  });
  return scored
    .sort((a, b) => a[0] - b[0] || a[1] - b[1])
    .slice(0, most)
    .map(([, i]) => i);
}

export class Search {
  readonly element: HTMLElement;
  private readonly input: HTMLInputElement;
  private readonly list = h("ul", { id: "found", role: "listbox", class: "found", hidden: true });
  private found: number[] = [];
  private active = 0;

  constructor(
    private readonly names: string[],
    private readonly choose: (node: number) => void,
  ) {
    this.input = h("input", {
      type: "search",
      id: "search",
      placeholder: "Find a variable",
      "aria-label": "Find a variable",
      role: "combobox",
      "aria-controls": "found",
      "aria-expanded": "false",
      "aria-autocomplete": "list",
      autocomplete: "off",
      on: {
        input: () => this.look(),
        keydown: (event: KeyboardEvent) => this.key(event),
        blur: () => setTimeout(() => this.close(), 150),
      },
    });
    this.element = h("div", { class: "search", role: "search" }, this.input, this.list);
  }

  focus(): void {
    this.input.focus();
  }

  private look(): void {
    this.found = findNames(this.names, this.input.value);
    this.active = 0;
    this.draw();
  }

  private draw(): void {
    const open = this.input.value.trim() !== "";
    this.list.hidden = !open;
    this.input.setAttribute("aria-expanded", String(open));
    this.input.setAttribute(
      "aria-activedescendant",
      this.found.length ? `found-${this.active}` : "",
    );
    fill(
      this.list,
      this.found.length
        ? this.found.map((i, k) =>
            h(
              "li",
              {
                role: "option",
                id: `found-${k}`,
                "aria-selected": k === this.active,
                on: { pointerdown: () => this.take(k) },
              },
              name(this.names[i]),
            ),
          )
        : [h("li", { class: "none" }, "no variable of that name")],
    );
  }

  private take(k: number): void {
    if (k >= this.found.length) return;
    this.choose(this.found[k]);
    this.input.value = "";
    this.close();
  }

  private close(): void {
    this.list.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
  }

  private key(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && this.found.length) {
      event.preventDefault();
      this.active = (this.active + step + this.found.length) % this.found.length;
      this.draw();
    } else if (event.key === "Enter") {
      this.take(this.active);
    } else if (event.key === "Escape") {
      this.input.value = "";
      this.close();
    }
  }
}
