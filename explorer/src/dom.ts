/** Small makers of elements. Texts are always set as text, never as HTML. */

export type Child = Node | string | null | undefined | false;

export interface Props {
  class?: string;
  on?: Record<string, (event: any) => void>;
  /** Custom properties of CSS. */
  vars?: Record<string, string>;
  [attribute: string]: unknown;
}

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (name === "on") {
      for (const [type, listen] of Object.entries(props.on ?? {})) {
        element.addEventListener(type, listen);
      }
    } else if (name === "vars") {
      setVars(element, props.vars ?? {});
    } else if (name.startsWith("aria-") && typeof value === "boolean") {
      element.setAttribute(name, String(value));
    } else if (value === true) {
      element.setAttribute(name, "");
    } else if (value !== false && value !== undefined && value !== null) {
      element.setAttribute(name, String(value));
    }
  }
  fill(element, children);
  return element;
}

export function setVars(element: HTMLElement, vars: Record<string, string>): void {
  for (const [name, value] of Object.entries(vars)) element.style.setProperty(`--${name}`, value);
}

/** Put children in the place of what an element held. */
export function fill(element: Element, children: Child[]): void {
  element.replaceChildren(...children.filter((child): child is Node | string => !!child));
}

/** A name of the data: its direction is its own, and the whole of it is in the title. */
export function name(text: string): HTMLElement {
  return h("bdi", { class: "name", title: text }, text);
}

export function pairName(a: string, b: string): HTMLElement {
  return h("span", { class: "pair" }, name(a), h("span", { class: "dash" }, " – "), name(b));
}

export function button(text: string, act: () => void, props: Props = {}): HTMLButtonElement {
  return h("button", { type: "button", ...props, on: { click: act, ...props.on } }, text);
}
