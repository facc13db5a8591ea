/** Light, dark, or as the system has it. */

import { DARK, LIGHT, type Palette } from "./colours";
import { button } from "./dom";

type Choice = "auto" | "light" | "dark";
const NEXT: Record<Choice, Choice> = { auto: "light", light: "dark", dark: "auto" };

export class Theme {
  readonly button: HTMLButtonElement;
  private choice: Choice = "auto";
  private printing = false;
  private readonly system = matchMedia("(prefers-color-scheme: dark)");

  constructor(private readonly changed: () => void) {
    this.button = button("", () => this.turn(), { id: "theme", class: "quiet" });
    this.system.addEventListener("change", () => {
      this.apply();
      this.changed();
    });
    this.apply();
  }

  /** Paper is white, whatever the screen is. */
  print(printing: boolean): void {
    this.printing = printing;
    this.apply();
    this.changed();
  }

  get isDark(): boolean {
    if (this.printing) return false;
    return this.choice === "auto" ? this.system.matches : this.choice === "dark";
  }

  get palette(): Palette {
    return this.isDark ? DARK : LIGHT;
  }

  private turn(): void {
    this.choice = NEXT[this.choice];
    this.apply();
    this.changed();
  }

  private apply(): void {
    document.documentElement.dataset.theme = this.isDark ? "dark" : "light";
    this.button.textContent = { auto: "◐ Auto", light: "☀ Light", dark: "☾ Dark" }[this.choice];
    this.button.title = "Light, dark, or as the system has it";
  }
}
