// A recorded graph as a tree of groups that stays readable at any size: by the function that its source
// lines name, then by line, then in runs of neighbours, so that nothing shown has more than `most` parts.

export interface GraphNode {
  op: string;
  name?: string;
  in?: [number, number][];
  types: string[];
  at?: string;
  attrs?: Record<string, string>;
  regions?: RecordedGraph[];
}
export interface RecordedGraph {
  name: string;
  nodes: GraphNode[];
  results: [number, number][];
}
export interface Group {
  name: string;
  parts: Part[];
  count: number;
}
export type Part = { node: number } | { group: Group };

export const most = 60;
export const small = 30; // graphs of so few nodes are shown as they are

function scope(n: GraphNode): string {
  const place = n.at?.match(/ in (.+)$/);
  if (place) return place[1];
  if (n.at) return n.at;
  return n.op === "parameter" ? "parameters" : "gradients and updates";
}
const line = (n: GraphNode) => n.at?.replace(/^.*\/([^/]+:\d+).*$/, "$1") ?? n.op;

function gather(g: RecordedGraph, nodes: number[], key: (n: GraphNode) => string): Group[] {
  const found = new Map<string, number[]>();
  for (const i of nodes) {
    const k = key(g.nodes[i]);
    const list = found.get(k);
    if (list) list.push(i);
    else found.set(k, [i]);
  }
  return [...found].map(([name, list]) => ({ name, count: list.length, parts: list.map((node) => ({ node })) }));
}

function divide(parts: Part[], name: string): Part[] {
  let now = parts;
  while (now.length > most) {
    const size = Math.ceil(now.length / Math.ceil(now.length / most));
    const next: Part[] = [];
    for (let i = 0; i < now.length; i += size) {
      const some = now.slice(i, i + size);
      const count = some.reduce((s, p) => s + ("group" in p ? p.group.count : 1), 0);
      next.push({ group: { name: `${name} ${i + 1}–${i + some.length}`, parts: some, count } });
    }
    now = next;
  }
  return now;
}

export function outline(g: RecordedGraph): Group {
  const all = g.nodes.map((_, i) => i);
  if (all.length <= small) return { name: g.name, count: all.length, parts: all.map((node) => ({ node })) };
  const groups = gather(g, all, scope).map((group): Part => {
    let parts = group.parts;
    if (parts.length > most) {
      const lines = gather(g, parts.map((p) => (p as { node: number }).node), (n) => line(n));
      if (lines.length > 1) {
        parts = lines.map((l): Part => (l.count === 1 ? l.parts[0] : { group: { ...l, parts: divide(l.parts, l.name) } }));
      }
    }
    return { group: { ...group, parts: divide(parts, group.name) } };
  });
  const parts = groups.length === 1 ? (groups[0] as { group: Group }).group.parts : divide(groups, "groups");
  return { name: g.name, parts, count: g.nodes.length };
}

// The part of `group` that holds each node, by node.
export function holders(group: Group): Map<number, number> {
  const out = new Map<number, number>();
  const mark = (p: Part, i: number) => {
    if ("node" in p) out.set(p.node, i);
    else p.group.parts.forEach((q) => mark(q, i));
  };
  group.parts.forEach(mark);
  return out;
}

// The way to a node: places of groups from the top.
export function wayTo(group: Group, node: number): number[] | null {
  for (let i = 0; i < group.parts.length; i++) {
    const p = group.parts[i];
    if ("node" in p) {
      if (p.node === node) return [];
    } else {
      const rest = wayTo(p.group, node);
      if (rest) return [i, ...rest];
    }
  }
  return null;
}

export interface Edge {
  from: number;
  to: number;
  label: string;
}
// Edges between the parts of a group; several between the same two are one.
export function edges(g: RecordedGraph, group: Group): Edge[] {
  const place = holders(group);
  const found = new Map<string, { from: number; to: number; types: Set<string>; n: number }>();
  for (const [node, to] of place) {
    for (const [source, k] of g.nodes[node].in ?? []) {
      const from = place.get(source);
      if (from === undefined || from === to) continue;
      const key = `${from} ${to}`;
      const e = found.get(key) ?? { from, to, types: new Set<string>(), n: 0 };
      e.types.add(g.nodes[source].types[k] ?? "");
      e.n++;
      found.set(key, e);
    }
  }
  return [...found.values()].map((e) => ({ from: e.from, to: e.to, label: e.types.size === 1 ? [...e.types][0] : `${e.types.size}×` }));
}
