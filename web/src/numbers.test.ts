import { expect, test } from "vitest";
import { csv, inner, rebin, short, smooth } from "./numbers";

test("a constant stays what it is under smoothing", () => {
  expect(smooth([2, 2, null, 2], 0.9)).toEqual([2, 2, null, 2]);
});

test("smoothing follows its recurrence", () => {
  const [a, b] = smooth([1, 3], 0.5) as number[];
  expect(a).toBe(1);
  expect(b).toBeCloseTo((0.5 * 0.5 * 1 + 0.5 * 3) / 0.75, 12);
});

test("outliers do not widen the range", () => {
  const values = Array.from({ length: 100 }, (_, i) => i / 100);
  values[50] = 1e9;
  const [low, high] = inner(values)!;
  expect(high).toBeLessThan(2);
  expect(low).toBeGreaterThan(-1);
});

test("no count is lost when bins change", () => {
  const out = rebin([1, 2, 4], [3, 5, 2], 0, 0, 4, 8);
  expect(out.reduce((a, b) => a + b)).toBeCloseTo(10, 9);
  expect(out[0]).toBeCloseTo(1.5, 9);
  expect(rebin([5], [7], 5, 0, 10, 5)).toEqual([0, 0, 7, 0, 0]);
});

test("texts in tables of numbers are harmless", () => {
  expect(csv([["=1+1", 'a"b', "x,y", -3, null]])).toBe(`'=1+1,"a""b","x,y",-3,\n`);
});

test("short numbers", () => {
  expect([0, 1234567, 0.00001, 0.123456, null].map(short)).toEqual(["0", "1.235e+6", "1.000e-5", "0.12346", "–"]);
});
