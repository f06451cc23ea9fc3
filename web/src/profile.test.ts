import { expect, test } from "vitest";
import { changes } from "./passes";
import { bars, duration, fields, headHeight, heightOf, hit, last, rowHeight, size, type Slices } from "./profile";

test("times and sizes", () => {
  expect(duration(12)).toBe("12 ns");
  expect(duration(1500)).toBe("1.5 µs");
  expect(duration(2.5e6)).toBe("2.500 ms");
  expect(duration(3e9)).toBe("3.000 s");
  expect(size(512)).toBe("512 B");
  expect(size(1536)).toBe("1.5 KiB");
  expect(size(200 * 2 ** 20)).toBe("200 MiB");
});

test("many steps become few bars of the same mean", () => {
  const steps = Array.from({ length: 1001 }, (_, i) => ({ number: i + 1, start: i, length: i, parts: [i, 0] }));
  const shown = bars(steps, 100);
  expect(shown.length).toBeLessThanOrEqual(100);
  expect(shown[0]).toEqual({ number: 1, start: 0, length: 5, parts: [5, 0] });
  expect(bars(steps.slice(0, 50), 100)).toHaveLength(50);
});

test("a place of the timeline finds its slice", () => {
  const row = [0, 10, 0, 1, 0, 20, 10, 0, 1, 0, 40, 5, 0, 3, 0];
  expect(last(row, 25)).toBe(fields);
  expect(last(row, -1)).toBe(-fields);
  expect(last(row, 100)).toBe(2 * fields);
  const slices: Slices = { from: 0, to: 50, whats: [], tracks: [{ name: "a", main: true, rows: [row] }, { name: "b", main: false, rows: [[], row] }], hits: 0, first_hit: -1, cut: false };
  expect(hit(slices, 25, headHeight + 3, 0)).toEqual({ track: 0, row: 0, at: fields });
  expect(hit(slices, 15, headHeight + 3, 0)).toBeNull();
  expect(hit(slices, 5, 2, 0)).toBeNull();
  const second = headHeight + rowHeight + 4;
  expect(hit(slices, 42, second + headHeight + rowHeight + 1, 0)).toEqual({ track: 1, row: 1, at: 2 * fields });
  expect(heightOf(slices)).toBe(2 * (headHeight + 4) + 3 * rowHeight);
});

test("what a pass changed", () => {
  expect(changes({ add: 3, mul: 2, relu: 1 }, { add: 3, mul: 1, fused: 4 })).toEqual([
    ["fused", 0, 4],
    ["mul", 2, 1],
    ["relu", 1, 0],
  ]);
});
