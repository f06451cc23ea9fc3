import { expect, test } from "vitest";
import { correlation, ranks } from "./ranks";

test("equal values share a rank", () => {
  expect(ranks([3, 1, 3, 2])).toEqual([2.5, 0, 2.5, 1]);
});

test("any rising function goes along, any falling one against", () => {
  const x = [5, 1, 4, 2, 3];
  expect(correlation(x, x.map((v) => Math.exp(v)))).toBeCloseTo(1, 12);
  expect(correlation(x, x.map((v) => -(v ** 3)))).toBeCloseTo(-1, 12);
  expect(correlation(x, [7, 7, 7, 7, 7])).toBe(0);
});
