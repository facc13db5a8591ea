import assert from "node:assert/strict";
import { test } from "node:test";

import { answer, mode, MOST_CELLS } from "../src/inference/answer";
import { eliminate } from "../src/inference/elimination";
import { adjacency, logWeight, makeNetwork, type Evidence } from "../src/inference/network";
import { enumerate, generator, largestGap, randomNetwork } from "./random";

function randomEvidence(cards: Int32Array, random: () => number): Evidence {
  const evidence = new Map<number, number[]>();
  cards.forEach((states, i) => {
    const draw = random();
    const code = Math.floor(random() * states);
    if (draw < 0.15)
      evidence.set(
        i,
        Array.from({ length: states }, (_, a) => +(a === code)),
      );
    else if (draw < 0.3)
      evidence.set(
        i,
        Array.from({ length: states }, () => random() + 0.05),
      );
  });
  return evidence;
}

test("exact answers equal enumeration, with hard and soft evidence and impossible cells", () => {
  let possible = 0;
  for (let seed = 0; seed < 120; seed++) {
    const random = generator(seed);
    const barred = seed % 3 ? 0 : 0.08;
    const shape = { variables: 1 + (seed % 7), edges: 9, mostStates: 4, scale: 3, barred };
    const net = randomNetwork(random, shape);
    const evidence = randomEvidence(net.cards, random);
    const truth = enumerate(net, evidence);
    const edges = Array.from({ length: net.edges.length / 2 }, (_, e) => e);
    const found = answer(net, { evidence, pairs: edges });
    const best = mode(net, { evidence });
    if (truth.total === 0) {
      assert.equal(found, null);
      assert.equal(best, null);
      continue;
    }
    possible++;
    assert(found !== null && best !== null && best.exact);
    assert.equal(found.engine, "exact");
    assert(largestGap(found.values, truth.values) < 1e-11);
    edges.forEach((e) => {
      assert(largestGap(found.pairs.get(e) as Float64Array, truth.pairs[e]) < 1e-11);
    });
    let weight = logWeight(net, best.codes);
    for (const [i, likelihood] of evidence) weight += Math.log(likelihood[best.codes[i]]);
    assert(Math.abs(weight - truth.best) < 1e-9);
  }
  assert(possible > 90);
});

test("extreme weights neither underflow nor overflow", () => {
  const weights = Float64Array.of(0, 800, 0, -900, 1000, 0, 0, 1000);
  const net = makeNetwork(Int32Array.of(2, 2), Int32Array.of(0, 1), weights);
  const found = answer(net, { evidence: new Map() });
  assert(found !== null);
  // 1000 and 800 - 900 + 1000 are the log weights of the two agreeing states.
  assert(largestGap(found.values, [1, Math.exp(-100), 1, Math.exp(-100)]) < 1e-15);
});

test("belief propagation is exact on trees, edges' tables included", () => {
  for (let seed = 0; seed < 40; seed++) {
    const random = generator(100 + seed);
    const n = 6;
    const cards = Int32Array.from({ length: n }, () => 1 + Math.floor(random() * 4));
    const edges: number[] = [];
    for (let j = 1; j < n; j++) edges.push(Math.floor(random() * j), j);
    let size = cards.reduce((a, b) => a + b, 0);
    for (let e = 0; e < edges.length; e += 2) size += cards[edges[e]] * cards[edges[e + 1]];
    const weights = Float64Array.from({ length: size }, () => 4 * random() - 2);
    const net = makeNetwork(cards, Int32Array.from(edges), weights);
    const evidence = randomEvidence(cards, random);
    const truth = enumerate(net, evidence);
    const found = answer(net, { evidence, engine: "bp", pairs: [0, 1, 2, 3, 4] });
    assert(found !== null && found.converged && found.engine === "bp");
    assert(largestGap(found.values, truth.values) < 1e-12);
    for (const [e, table] of found.pairs) assert(largestGap(table, truth.pairs[e]) < 1e-12);
  }
});

test("draws agree with enumeration within their standard error, hard zeros included", () => {
  for (let seed = 0; seed < 3; seed++) {
    const random = generator(300 + seed);
    const barred = seed % 2 ? 0.05 : 0;
    const net = randomNetwork(random, {
      variables: 7,
      edges: 16,
      mostStates: 4,
      scale: 2.5,
      barred,
    });
    const evidence = randomEvidence(net.cards, random);
    const truth = enumerate(net, evidence);
    const pairs = Array.from({ length: net.edges.length / 2 }, (_, e) => e);
    const found = answer(net, { evidence, engine: "sampled", pairs });
    if (truth.total === 0) continue;
    assert(found !== null && found.engine === "sampled");
    assert(found.noise < 0.03);
    assert(largestGap(found.values, truth.values) < 4 * found.noise + 0.002);
    pairs.forEach((e) => assert(largestGap(found.pairs.get(e)!, truth.pairs[e]) < 0.05));
  }
});

test("a network that is too large for a junction tree is sampled", () => {
  const side = 26;
  const edges: number[] = [];
  for (let r = 0; r < side; r++) {
    for (let c = 0; c < side; c++) {
      const at = r * side + c;
      if (c + 1 < side) edges.push(at, at + 1);
      if (r + 1 < side) edges.push(at, at + side);
    }
  }
  const cards = new Int32Array(side * side).fill(2);
  const unaries = new Float64Array(2 * cards.length);
  // Pairs agree so strongly that messages settle at one of the two sides, which are as likely.
  const tables = Array.from({ length: edges.length / 2 }, () => [1.1, 0, 0, 1.1]).flat();
  const weights = Float64Array.of(...unaries, ...tables);
  const net = makeNetwork(cards, Int32Array.from(edges), weights);
  const found = answer(net, { evidence: new Map() });
  assert(found !== null && found.engine === "sampled" && found.noise > 0);
  assert(
    largestGap(
      found.values,
      new Float64Array(weights.length).fill(0.5).subarray(0, found.values.length),
    ) <
      5 * found.noise,
  );
});

test("belief propagation says when it has not converged", () => {
  const random = generator(5);
  const net = randomNetwork(random, {
    variables: 12,
    edges: 60,
    mostStates: 4,
    scale: 4,
    barred: 0,
  });
  const loopy = { sweeps: 2, tol: 1e-9 };
  const found = answer(net, { evidence: new Map(), engine: "bp", loopy });
  assert(found !== null && !found.converged && found.residual > 1e-9);
});

test("belief propagation keeps hard zeros, and tells a contradiction on a tree", () => {
  const never = -Infinity;
  const equal = [0, never, never, 0];
  const differ = [never, 0, 0, never];
  const net = (second: number[]) =>
    makeNetwork(
      Int32Array.of(2, 2, 2),
      Int32Array.of(0, 1, 1, 2),
      Float64Array.of(1, 0, 0, 0, 0, 0, ...equal, ...second),
    );
  const observed = new Map([[2, [1, 0]]]);
  const found = answer(net(differ), { evidence: observed, engine: "bp" });
  assert(found !== null);
  assert.deepEqual([...found.values], [0, 1, 0, 1, 1, 0]);
  const both = new Map([
    [0, [1, 0]],
    [2, [0, 1]],
  ]);
  assert.equal(answer(net(equal), { evidence: both, engine: "bp" }), null);
  assert.equal(answer(net(equal), { evidence: both }), null);
});

test("the search for the most probable state finds it in small networks", () => {
  let hits = 0;
  for (let seed = 0; seed < 30; seed++) {
    const random = generator(200 + seed);
    const net = randomNetwork(random, {
      variables: 7,
      edges: 12,
      mostStates: 3,
      scale: 2,
      barred: 0,
    });
    const found = mode(net, { evidence: new Map(), engine: "bp" });
    assert(found !== null && !found.exact);
    const best = enumerate(net, new Map()).best;
    assert(logWeight(net, found.codes) <= best + 1e-9);
    if (logWeight(net, found.codes) > best - 1e-9) hits++;
  }
  assert(hits >= 29);
});

test("elimination covers every edge, and gives up beyond the cells allowed", () => {
  const n = 30;
  const grid: number[] = [];
  for (let i = 0; i < n; i++) {
    if (i % 6 < 5) grid.push(i, i + 1);
    if (i + 6 < n) grid.push(i, i + 6);
  }
  const cards = new Int32Array(n).fill(2);
  const found = eliminate(cards, Int32Array.from(grid), MOST_CELLS);
  assert(found !== null);
  assert.equal(new Set(found.order).size, n);
  const place = new Map(found.order.map((v, k) => [v, k]));
  for (let e = 0; e < grid.length; e += 2) {
    const [i, j] = [place.get(grid[e]) as number, place.get(grid[e + 1]) as number];
    assert(found.separators[Math.min(i, j)].includes(found.order[Math.max(i, j)]));
  }
  assert(Math.max(...found.separators.map((s) => s.length)) <= 6);
  const cells = found.order.reduce((sum, _, k) => sum + 2 ** (1 + found.separators[k].length), 0);
  assert.equal(found.cells, cells);
  const complete: number[] = [];
  for (let i = 0; i < n; i++) for (let j = i + 1; j < n; j++) complete.push(i, j);
  assert.equal(eliminate(cards, Int32Array.from(complete), MOST_CELLS), null);
});

test("neighbours are listed in order, whatever the order of the edges", () => {
  const found = adjacency(4, Int32Array.of(2, 3, 0, 2, 1, 2, 0, 1));
  assert.deepEqual([...found.indptr], [0, 2, 4, 7, 8]);
  assert.deepEqual([...found.neighbours], [1, 2, 0, 2, 0, 1, 3, 2]);
  assert.deepEqual([...found.edges], [3, 1, 3, 2, 1, 2, 0, 0]);
});
