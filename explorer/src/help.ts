/** How the page is used, in a dialog. */

import { button, h } from "./dom";

const LINES: [string, string][] = [
  [
    "Picture",
    "Drag to move, wheel or pinch to zoom, double click to zoom in. With the keyboard: arrows, plus, minus, 0.",
  ],
  [
    "Variables",
    "Larger discs are better connected. Colours are communities: variables with more and stronger edges among them. Click one for its probabilities and neighbours.",
  ],
  [
    "Edges",
    "Wider lines are stronger. Blue lines are positive, red dashed ones negative; of groups, orange lines differ; grey ones have no sign, because one number does not tell how the states go together. Click one for its table.",
  ],
  [
    "What if",
    "Click a state to observe it, or tick “weigh states” and say how well each fits what you know. Squares mark what is observed; arcs around others how far their probabilities moved.",
  ],
  [
    "margins as in the data, approximate",
    "Probabilities are computed in this page: exactly where that is affordable, and then the badge says how far the network is from its rows; else by draws, with their standard error, and in very large networks by loopy belief propagation, which it says. Next to a probability stands how often the state occurs in the rows, as long as at most one variable is observed.",
  ],
  [
    "Filters",
    "q is the false discovery rate at which an edge would just be kept: smaller is surer.",
  ],
  [
    "Link",
    "The address keeps all of it: filters, selection, evidence. Copy it to share what you see; it needs this same file.",
  ],
  [
    "Keys",
    "/ finds a variable, Escape takes the selection back, arrows go through tables and tabs.",
  ],
];

export function help(): HTMLElement {
  const close = () => dialog.close();
  const dialog = h(
    "dialog",
    { class: "help", "aria-label": "Help" },
    h("h2", {}, "How to use this page"),
    h("dl", {}, ...LINES.flatMap(([term, text]) => [h("dt", {}, term), h("dd", {}, text)])),
    button("Close", close, { class: "primary" }),
  );
  const open = button("?", () => dialog.showModal(), {
    id: "help",
    "aria-label": "Help",
    class: "quiet",
  });
  return h("span", {}, open, dialog);
}
