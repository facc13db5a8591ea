import assert from "node:assert/strict";
import { test } from "node:test";

import { along, bends, clearOf, curve, distance, part } from "../src/bends";
import { dashed } from "../src/drawing";
// What bends.py finds, which a test in Python compares with this file, too.
import { cases, gap } from "./bends.json";

test("lines are bent as in the pictures that Python draws", () => {
  for (const { points, ends, radii, widths, view, bends: wanted } of cases) {
    const found = bends(
      points.map(([x]) => x),
      points.map(([, y]) => y),
      ends.flat(),
      [...points.keys()],
      (k, i) => radii[i] + widths[k] / 2 + gap,
      { left: view[0], top: view[1], right: view[2], bottom: view[3] },
    );
    found.forEach((bend, k) => assert(Math.abs(bend - wanted[k]) < 1e-5, `${bend} ${wanted[k]}`));
  }
});

test("a bent line is as far from a point as its points are", () => {
  const line = curve(0, 0, 100, 0, 20);
  assert.deepEqual(along(line, 0.5), [50, 20]);
  assert.equal(distance(line, 50, 23), 3);
  assert(distance(line, 50, 0) > 15);
  const some = part(line, 0.25, 1);
  assert.deepEqual([some.x1, some.y1], along(line, 0.25));
  const [halfway, wanted] = [along(some, 0.5), along(line, 0.625)];
  assert(Math.hypot(halfway[0] - wanted[0], halfway[1] - wanted[1]) < 1e-9);
});

test("a line is interrupted at discs that it meets", () => {
  const pieces = clearOf(curve(0, 0, 100, 0, 0), [{ x: 50, y: 0, radius: 10 }]);
  assert.equal(pieces.length, 2);
  for (const [wanted, found] of [
    [0.4, pieces[0][1]],
    [0.6, pieces[1][0]],
  ]) {
    assert(Math.abs(found - wanted) < 0.01);
  }
  assert.deepEqual(clearOf(curve(0, 0, 100, 0, 20), [{ x: 50, y: 0, radius: 10 }]), [[0, 1]]);
});

test("negative lines have three dashes at least, and dashes at both ends, bent or not", () => {
  const style = { colour: "", width: 5, alpha: 1, dashed: true, bent: true, pair: 0, dash: [] };
  for (const bend of [0, 40]) {
    for (const far of [30, 400]) {
      const whole = curve(0, 0, far, 0, bend * (far / 400));
      const line = dashed({ ...style, ...whole }, 9, 8);
      assert(Math.abs(Math.hypot(line.x1, line.y1) - 9) < 0.2);
      assert(Math.abs(Math.hypot(far - line.x2, line.y2) - 8) < 0.2);
      let seen = 0;
      for (let k = 0; k < 1000; k++) {
        const [a, b] = [along(line, k / 1000), along(line, (k + 1) / 1000)];
        seen += Math.hypot(b[0] - a[0], b[1] - a[1]);
      }
      const [on, off] = line.dash;
      const dashes = (seen + off) / (on + off);
      assert(dashes > 2.99 && Math.abs(dashes - Math.round(dashes)) < 0.01);
      assert(on <= 1.2 * (4 + 1.5 * 5));
    }
  }
  const hidden = { ...style, ...curve(0, 0, 10, 0, 0) };
  assert.equal(dashed(hidden, 9, 8), hidden);
});
