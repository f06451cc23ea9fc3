import { expect, test } from "vitest";
import { edges, most, outline, wayTo, type Group, type RecordedGraph } from "./outline";

function chain(n: number, at?: (i: number) => string): RecordedGraph {
  return {
    name: "g",
    nodes: Array.from({ length: n }, (_, i) => ({ op: "add", types: ["float32[2]"], in: i ? [[i - 1, 0]] : [], ...(at ? { at: at(i) } : {}) })),
    results: [],
  };
}
function widest(g: Group): number {
  return Math.max(g.parts.length, ...g.parts.map((p) => ("group" in p ? widest(p.group) : 0)));
}
function nodes(g: Group): number[] {
  return g.parts.flatMap((p) => ("node" in p ? [p.node] : nodes(p.group)));
}

test("no group is too wide and no node is lost", () => {
  for (const g of [chain(10000), chain(10000, (i) => `a.py:${i % 700} in Net${i % 90}.construct`), chain(3)]) {
    const o = outline(g);
    expect(widest(o)).toBeLessThanOrEqual(most);
    expect(nodes(o).sort((a, b) => a - b)).toEqual(g.nodes.map((_, i) => i));
  }
});

test("edges join the parts that are shown", () => {
  const g = chain(40, (i) => `a.py:${i} in ${i < 20 ? "A" : "B"}`);
  expect(edges(g, outline(g))).toEqual([{ from: 0, to: 1, label: "float32[2]" }]);
});

test("a small graph is shown as it is", () => {
  const g = chain(4, (i) => `a.py:${i} in ${i < 2 ? "A" : "B"}`);
  expect(edges(g, outline(g)).map((e) => [e.from, e.to])).toEqual([[0, 1], [1, 2], [2, 3]]);
});

test("a node is found", () => {
  const o = outline(chain(500));
  let at = o;
  for (const i of wayTo(o, 321)!) at = (at.parts[i] as { group: Group }).group;
  expect(at.parts.some((p) => "node" in p && p.node === 321)).toBe(true);
});
