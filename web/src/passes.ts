// What compiling does to a graph: ops by pass, as src/insight/graph_json.cc writes them.
import type { RecordedGraph } from "./outline";

export interface Pass {
  name: string;
  nodes: number;
  ops: Record<string, number>;
  graph?: RecordedGraph;
}

// Ops whose number differs between two passes: [op, before, after], the largest changes first.
export function changes(before: Record<string, number>, after: Record<string, number>): [string, number, number][] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names]
    .map((n): [string, number, number] => [n, before[n] ?? 0, after[n] ?? 0])
    .filter(([, a, b]) => a !== b)
    .sort((x, y) => Math.abs(y[2] - y[1]) - Math.abs(x[2] - x[1]) || x[0].localeCompare(y[0]));
}
