import assert from "node:assert/strict";
import { test } from "node:test";

import { decodeModel, floats, frequencies, integers } from "../src/data";
import { makeNetwork } from "../src/inference/network";
import { amount, cut, percent, short, signed, tiny } from "../src/format";
import { placeLabels, type Wanted } from "../src/labels";
import { conditional, doubleCentred } from "../src/pairtable";
import { fileName } from "../src/save";
import { connections, fit, makeScene, signs, ownEdges, passes, within } from "../src/scene";
import { findNames } from "../src/search";
import { decodeState, encodeState, observedState, START, withEvidence } from "../src/state";
import { toSvg } from "../src/svg";
import { LIGHT } from "../src/colours";
import { sortRows } from "../src/table";
import { generator } from "./random";

function packed(values: number[]) {
  return { f8: Buffer.from(Float64Array.from(values).buffer).toString("base64") };
}

function packedInts(values: number[]) {
  return { i4: Buffer.from(Int32Array.from(values).buffer).toString("base64") };
}

const MODEL = decodeModel(
  {
    label: "Network",
    pairs: packedInts([0, 1, 1, 2, 0, 3]),
    columns: [
      { key: "strength", label: "Strength", about: "", values: packed([1, 2, 0.5]) },
      { key: "weight", label: "Weight", about: "", values: packed([2, -4, NaN]) },
      { key: "q_value", label: "q", about: "", values: packed([0.04, 1e-9, NaN]) },
    ],
  },
  [["a"], ["b"], ["c"], ["d"]],
);

test("numbers come back bit for bit", () => {
  const values = [0.1, -0, NaN, -Infinity, 5e-324, 1 / 3];
  assert.deepEqual([...floats(packed(values))], values);
  assert.deepEqual([...integers(packedInts([1, -1, 2 ** 31 - 1]))], [1, -1, 2 ** 31 - 1]);
});

test("numbers are written as people read them", () => {
  assert.deepEqual([1234.5, 12.34, 1.234, 0.0001, NaN, -Infinity, -0.5].map(short), [
    "1235", "12.3", "1.23", "1.0e−4", "–", "−∞", "−0.50",
  ]); // prettier-ignore
  assert.deepEqual([-0.004, 0.004, -0, -0.005001].map(short), ["0.00", "0.00", "0.00", "−0.01"]);
  assert.deepEqual([0.004, -0.004, 0.5, -0.5].map(signed), ["0.00", "0.00", "+0.50", "−0.50"]);
  assert.deepEqual([20, 1234, 2.5].map(amount), ["20", "1,234", "2.50"]);
  assert.deepEqual([0, 0.0123, 1e-9].map(tiny), ["< 1e−300", "0.012", "1.0e−9"]);
  assert.deepEqual([0, 1, 0.5, 1e-9, 1 - 1e-9].map(percent), [
    "0 %",
    "100 %",
    "50.0 %",
    "< 0.1 %",
    "> 99.9 %",
  ]);
  assert.equal(cut("👨‍👩‍👧abc", 4), "👨‍👩…");
  assert.equal(cut("abc", 3), "abc");
});

test("a link says what was chosen, and nonsense in it does no harm", () => {
  const bounds = { pairs: [3, 5], states: [2, 3, 2], groupings: 2 };
  const state = {
    ...START,
    model: 1,
    node: 2,
    pair: 4,
    ego: 2,
    strength: 0.25,
    q: 1e-5,
    frequency: 0.5,
    sign: "negative" as const,
    grouping: -1,
    group: 3,
    tab: "edges" as const,
    evidence: new Map([[1, [0, 0.5, 1]]]),
    camera: [1.5, -2, 30] as const,
  };
  assert.deepEqual(decodeState(`#${encodeState(state)}`, bounds), state);
  assert.equal(encodeState(START), "");
  const odd = "m=7&v=-5&v=1.5&e=3&q=2&s=-1&if=0:1,1,1;9:1;1:a,b,c;2:0,0&at=0,0,0&tab=x&sign=&&=";
  assert.deepEqual(decodeState(odd, { ...bounds, pairs: [3] }), START);
});

test("evidence that says nothing is taken back", () => {
  const some = withEvidence(new Map(), 1, [0, 1]);
  assert.equal(observedState(some.get(1)), 1);
  assert.equal(observedState([0.5, 1]), -1);
  assert.equal(withEvidence(some, 1, [0.3, 0.3]).size, 0);
  assert.equal(withEvidence(some, 1, null).size, 0);
  assert.equal(some.size, 1);
});

test("rows are sorted either way, and what is not known comes last", () => {
  const values = [2, NaN, 1, 3];
  const value = (row: number) => values[row];
  assert.deepEqual(sortRows([0, 1, 2, 3], value, true), [2, 0, 3, 1]);
  assert.deepEqual(sortRows([0, 1, 2, 3], value, false), [3, 0, 2, 1]);
  const names = ["item 10", "item 9", "Item 1"];
  assert.deepEqual(
    sortRows([0, 1, 2], (row) => names[row], true),
    [2, 1, 0],
  );
});

test("tables are centred and conditioned", () => {
  assert.deepEqual([...doubleCentred([3, 1, 0, 2], 2, 2)], [1, -1, -1, 1]);
  const barred = doubleCentred([0, -Infinity, 0, 0], 2, 2);
  assert.equal(barred[1], -Infinity);
  assert(barred[0] > 0 && barred[3] > 0);
  assert.deepEqual([...conditional([0.1, 0.3, 0.2, 0.4], 2, "rows")].map(percent), [
    "25.0 %",
    "75.0 %",
    "33.3 %",
    "66.7 %",
  ]);
  assert.deepEqual([...conditional([0.1, 0.3, 0.3, 0.3], 2, "columns")].map(percent), [
    "25.0 %",
    "50.0 %",
    "75.0 %",
    "50.0 %",
  ]);
});

test("filters keep what they say; what was not tested passes a q-value", () => {
  assert.deepEqual([...passes(MODEL, START)], [1, 1, 1]);
  assert.deepEqual([...passes(MODEL, { ...START, q: 0.01 })], [0, 1, 1]);
  assert.deepEqual([...passes(MODEL, { ...START, strength: 1 })], [1, 1, 0]);
  assert.deepEqual([...passes(MODEL, { ...START, sign: "negative" })], [0, 1, 0]);
  assert.deepEqual([...passes(MODEL, { ...START, sign: "positive" })], [1, 0, 0]);
});

test("neighbourhoods and connections are counted over pairs that are there", () => {
  const all = new Uint8Array([1, 1, 1]);
  assert.deepEqual([...within(4, MODEL.pairs, all, 2, 1)], [0, 1, 1, 0]);
  assert.deepEqual([...within(4, MODEL.pairs, all, 2, 2)], [1, 1, 1, 0]);
  assert.deepEqual([...within(4, MODEL.pairs, new Uint8Array([0, 1, 1]), 2, 3)], [0, 1, 1, 0]);
  assert.deepEqual([...connections(4, MODEL).degree], [2, 2, 1, 1]);
  assert.deepEqual([...connections(4, MODEL).strength], [1.5, 3, 2, 0.5]);
});

test("labels never lie on each other, nor outside, and are nearest to their own disc, or led to", () => {
  const random = generator(3);
  const area = { left: 0, top: 0, right: 800, bottom: 500 };
  for (let round = 0; round < 200; round++) {
    const n = 5 + Math.floor(60 * random());
    const longest = round % 2 ? 30 : 160;
    const discs = Array.from({ length: n }, (_, item) => {
      return { item, x: 800 * random(), y: 500 * random(), radius: 3 + 10 * random() };
    });
    const wanted: Wanted[] = discs.map((disc) => {
      return { ...disc, width: 10 + longest * random(), height: 15 };
    });
    const must = round % 3 ? 0 : 5;
    const placed = placeLabels(wanted, discs, area, round % 4 ? n : must, must);
    assert(placed.length > 3);
    for (const [k, a] of placed.entries()) {
      assert(a.left >= 0 && a.right <= 800 && a.top >= 0 && a.bottom <= 500);
      for (const b of placed.slice(k + 1)) {
        assert(a.left >= b.right || a.right <= b.left || a.top >= b.bottom || a.bottom <= b.top);
      }
      const gaps = discs.map((disc) => {
        const across = Math.max(a.left - disc.x, disc.x - a.right, 0);
        const down = Math.max(a.top - disc.y, disc.y - a.bottom, 0);
        return Math.max(Math.hypot(across, down) - disc.radius, 0);
      });
      const nearest = Math.min(...gaps.filter((_, item) => item !== a.item));
      assert(a.led || gaps[a.item] <= nearest);
      assert(a.item < must || nearest > 0);
    }
  }
});

test("a camera shows all that is shown", () => {
  const view = { x: Float64Array.of(-3, 5, 99), y: Float64Array.of(0, 2, 99) } as never;
  const camera = fit(view, new Uint8Array([1, 1, 0]), 800, 600);
  assert.deepEqual([camera.x, camera.y], [1, 1]);
  assert(8 * camera.scale <= 800 && 2 * camera.scale <= 600);
});

test("names are found: equal ones first, then those that begin so, then those that have it", () => {
  const names = ["brain", "Rain", "rainy", "snow"];
  assert.deepEqual(findNames(names, " rain "), [1, 2, 0]);
  assert.deepEqual(findNames(names, ""), []);
  assert.deepEqual(findNames(names, "a", 1), [0]);
});

test("names are found whatever their accents and case", () => {
  const names = ["Müdigkeit", "Ärger", "Straße", "Øre", "élan"];
  assert.deepEqual(findNames(names, "mud"), [0]);
  assert.deepEqual(findNames(names, "MÜD"), [0]);
  assert.deepEqual(findNames(["Mu\u0308digkeit"], "müdigkeit"), [0]);
  assert.deepEqual(findNames(names, "strasse"), [2]);
  assert.deepEqual(findNames(names, "ore"), [3]);
  assert.deepEqual(findNames(names, "Élan"), [4]);
});

test("of a bootstrap only the network's edges count as edges", () => {
  const given = [
    { key: "strength", label: "Strength", about: "", values: packed([1, 0, 0.5]) },
    { key: "edge", label: "In network", about: "", values: packed([1, 0, 1]) },
  ];
  const pairs = packedInts([0, 1, 1, 2, 0, 3]);
  const boot = decodeModel({ label: "", pairs, columns: given, noun: "pair" }, MODEL.states);
  assert.deepEqual(ownEdges(boot), [0, 2]);
  assert.deepEqual(ownEdges(MODEL), [0, 1, 2]);
  assert.deepEqual([boot.noun, MODEL.noun], ["pair", "edge"]);
});

test("SVG holds names as text", () => {
  const drawing = {
    width: 10,
    height: 10,
    lines: [],
    discs: [],
    labels: [{ text: "</text><script>\u0001&", x: 1, y: 2, bold: false, leader: null }],
  };
  const text = toSvg(drawing, LIGHT, "<t>");
  assert(text.includes("&lt;/text&gt;&lt;script&gt;�&amp;"));
  assert(text.includes("<title>&lt;t&gt;</title>"));
});

test("files are named after the title", () => {
  assert.equal(fileName("What people / said?", "png"), "What-people-said.png");
  assert.equal(fileName("../..", "svg"), "network.svg");
});

test("lines are as wide as strengths say, and have the signs of correlations", () => {
  const columns = [
    { key: "strength", label: "Strength", about: "", values: packed([0.125, 0.5]) },
    { key: "correlation", label: "Correlation", about: "", values: packed([-0.1, NaN]) },
  ];
  const json = { label: "Network", pairs: packedInts([0, 1, 1, 2]), columns };
  const model = decodeModel(json, [["a"], ["b"], ["c"]]);
  const names = ["x", "y", "z"];
  const view = { kind: "network" as const, title: "", names, models: [model], groupings: [] };
  const x = new Float64Array(3);
  const places = { x, y: x, spacing: 1, columns: [], words: [] };
  assert.deepEqual([...makeScene({ ...view, ...places }, START, LIGHT).share], [0.25, 1]);
  assert.deepEqual([...signs(model)], [-1, 0]);
});

test("frequencies of the rows are those of a column, or of the rows with one state of another", () => {
  const network = makeNetwork(Int32Array.of(2, 3), new Int32Array(0), new Float64Array(5));
  const rows = {
    margins: Float64Array.of(4, 6, 3, 5, 2),
    pairs: Int32Array.of(0, 1),
    tables: Float64Array.of(1, 2, 1, 2, 3, 1),
    error: 0.001,
  };
  assert.deepEqual([...frequencies(rows, network, 0, null)!], [0.4, 0.6]);
  assert.deepEqual([...frequencies(rows, network, 1, { node: 0, state: 0 })!], [0.25, 0.5, 0.25]);
  assert.deepEqual([...frequencies(rows, network, 0, { node: 1, state: 1 })!], [0.4, 0.6]);
  assert.deepEqual([...frequencies(rows, network, 1, { node: 1, state: 2 })!], [0, 0, 1]);
  assert.equal(
    frequencies({ ...rows, pairs: new Int32Array(0) }, network, 1, { node: 0, state: 0 }),
    null,
  );
});
