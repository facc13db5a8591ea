/** What there is to see, before anything is selected. */

import type { Context } from "./context";
import { modelOf } from "./context";
import { groupColour, LIGHT, MOST_GROUPS } from "./colours";
import { valuesOf, type Model } from "./data";
import { button, h, name, pairName, type Child } from "./dom";
import { count, percent, tiny } from "./format";
import { connections, countedNoun, ownEdges, signs } from "./scene";

const MOST_MEMBERS = 6;

export function overview(context: Context, showEdges: (sort: string, up: boolean) => void): Node[] {
  const { view, store } = context;
  const model = modelOf(context);
  const n = view.names.length;
  const { degree } = connections(n, model);
  const drawn = model.pairs.length / 2;
  const edges = ownEdges(model);
  const facts: [string, Child[]][] = [];
  const differs = valuesOf(model.columns, "differs");
  if (valuesOf(model.columns, "edge")) {
    facts.push([
      "Pairs",
      [
        `${drawn} that are an edge of the network or of a resample; ${edges.length} of them are edges ` +
          "of the network, the others are drawn thin and grey ",
        button("see all", () => showEdges("edge", false), { class: "link" }),
      ],
    ]);
  }
  // Pairs that were compared need not be edges of any group.
  if (drawn && !differs) facts.push(["Best connected", bestConnected(context, degree)]);
  const sure = leastSure(context);
  if (sure.length && !differs) facts.push(["Least sure edge", sure]);
  const sign = signs(model);
  const negative = edges.filter((e) => sign[e] < 0).length;
  if (valuesOf(model.columns, "weight") && !differs) {
    facts.push([
      "Negative pairs",
      negative
        ? [
            `${negative} of ${edges.length} `,
            button("show them", () => store.set({ sign: "negative", tab: "edges" }), {
              class: "link",
              id: "show-negative",
            }),
          ]
        : ["none"],
    ]);
  } else if (!differs) {
    facts.push([
      "Negative pairs",
      ["no edge has a sign: those between more than two unordered states are told by their tables"],
    ]);
  }
  function edgesLink(): HTMLElement {
    return button("See the tests of single pairs", () => showEdges("q_value", true), {
      class: "link",
    });
  }
  const list = h(
    "dl",
    { class: "facts" },
    ...facts.flatMap(([term, told]) => [h("dt", {}, term), h("dd", {}, ...told)]),
  );
  return [
    ...groupTests(model),
    ...(differs ? [h("p", {}, edgesLink())] : []),
    list,
    ...communities(context),
    h("h3", {}, "How to ask"),
    h(
      "ul",
      { class: "how" },
      h("li", {}, "Click a variable for its probabilities and neighbours, an edge for its table."),
      context.oracle.answers &&
        h(
          "li",
          {},
          "Click a state to observe it: all probabilities follow. The tab What if has them all.",
        ),
      h(
        "li",
        {},
        `The tabs ${model.noun === "pair" ? "Pairs" : "Edges"} and Variables are tables of what the picture shows; headings sort them.`,
      ),
    ),
    ...(view.words.length
      ? [
          h(
            "details",
            { class: "more" },
            h("summary", {}, "More in words"),
            ...view.words.map((text) => h("p", { class: "words" }, text)),
          ),
        ]
      : []),
  ];
}

/** The tests of a comparison of groups, in a small table. */
function groupTests(model: Model): Node[] {
  const { tests } = model;
  if (!tests.length) return [];
  const permuted = tests.some((test) => test.permuted !== null);
  const chance = (p: number | null) => h("td", { class: "number" }, p === null ? "" : tiny(p));
  return [
    h(
      "table",
      { class: "data tests" },
      h("caption", { class: "hidden" }, "Tests of all groups"),
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("th", { scope: "col" }, "Test"),
          h("th", { scope: "col", class: "number" }, "p"),
          permuted && h("th", { scope: "col", class: "number" }, "p by permutation"),
          h("th", { scope: "col" }, "Finding"),
        ),
      ),
      h(
        "tbody",
        {},
        ...tests.map(({ about, p, permuted: other, finding }) =>
          h(
            "tr",
            {},
            h("th", { scope: "row" }, about),
            chance(p),
            permuted && chance(other),
            h("td", {}, finding),
          ),
        ),
      ),
    ),
  ];
}

function bestConnected(context: Context, degree: Int32Array): Child[] {
  const most = Math.max(...degree);
  const tied = [...degree.keys()].filter((i) => degree[i] === most);
  const named = tied.slice(0, 3).map((i) => nodeLink(context, i));
  const listed = named.flatMap((each, k) => (k ? [", ", each] : [each]));
  const rest = tied.length > 3 ? ` and ${tied.length - 3} more` : "";
  return [...listed, `${rest}, with ${count(most, countedNoun(modelOf(context)))}`];
}

function nodeLink(context: Context, i: number): HTMLElement {
  const link = button("", () => context.selectNode(i), { class: "link" });
  link.append(name(context.view.names[i]));
  return link;
}

/** The edge with the largest q-value, or that comes back least often; of equals the weakest. */
function leastSure(context: Context): Child[] {
  const model = modelOf(context);
  const q = valuesOf(model.columns, "q_value");
  const frequency = valuesOf(model.columns, "frequency");
  const own = ownEdges(model);
  const link = (e: number) => {
    const made = button("", () => context.selectPair(e), { class: "link", id: "least-sure" });
    made.append(
      pairName(context.view.names[model.pairs[2 * e]], context.view.names[model.pairs[2 * e + 1]]),
    );
    return made;
  };
  const size = valuesOf(model.columns, "strength");
  const largest = (values: Float64Array) =>
    own
      .filter((e) => !Number.isNaN(values[e]))
      .sort((a, b) => values[b] - values[a] || (size ? size[a] - size[b] : 0))[0];
  if (q) {
    const e = largest(q);
    if (e !== undefined) return [link(e), ` (q = ${tiny(q[e])})`];
  }
  if (frequency) {
    const e = largest(frequency.map((f) => -f));
    if (e !== undefined) return [link(e), ` (in ${percent(frequency[e])} of the resamples)`];
  }
  return own.length ? [`not known: ${model.untested}`] : [];
}

function communities(context: Context): Node[] {
  const { view, store } = context;
  const { degree } = connections(view.names.length, modelOf(context));
  return view.groupings.flatMap((grouping, g) => {
    if (!grouping.names.length) return [];
    const shown = grouping.names.slice(0, MOST_GROUPS);
    const items = shown.map((label, k) => {
      const members = [...grouping.of.keys()].filter((i) => grouping.of[i] === k);
      members.sort((a, b) => degree[b] - degree[a]);
      const shownMembers = members.slice(0, MOST_MEMBERS);
      const listed = shownMembers.flatMap((i, place) => [
        h("span", {}, nodeLink(context, i), place < shownMembers.length - 1 ? "," : ""),
        " ",
      ]);
      const more = members.length - MOST_MEMBERS;
      const dot = h("span", { class: "dot", vars: { colour: groupColour(k, LIGHT) } });
      return h(
        "li",
        {},
        h(
          "button",
          {
            type: "button",
            class: "link group",
            on: { click: () => store.set({ grouping: g, group: k, node: -1, pair: -1 }) },
          },
          dot,
          name(label),
        ),
        " ",
        ...listed,
        more > 0 ? `and ${more.toLocaleString("en-US")} more` : "",
      );
    });
    const hidden = grouping.names.length - shown.length;
    const heading = grouping.label === "Community" ? "Communities" : "Groups";
    return [
      h("h3", {}, `${heading} (${grouping.names.length})`),
      h(
        "ul",
        { class: "groups" },
        ...items,
        hidden > 0 && h("li", {}, `and ${hidden} smaller ones`),
      ),
    ];
  });
}
