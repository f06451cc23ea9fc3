import dagre from "@dagrejs/dagre";
import type { Layout, LayoutQuestion, Placed } from "./layout";

function lay(q: LayoutQuestion): Layout {
  const d = new dagre.graphlib.Graph();
  d.setGraph({ rankdir: "TB", nodesep: 24, ranksep: 46 });
  d.setDefaultEdgeLabel(() => ({}));
  q.widths.forEach((width, i) => d.setNode(String(i), { width, height: 40 }));
  for (const e of q.edges) d.setEdge(String(e.from), String(e.to));
  dagre.layout(d);
  return {
    places: q.widths.map((_, i) => {
      const { x, y, width, height } = d.node(String(i)) as Placed;
      return { x, y, width, height };
    }),
    joins: q.edges.map((e) => ({ ...e, points: d.edge(String(e.from), String(e.to)).points as { x: number; y: number }[] })),
    width: d.graph().width ?? 100,
    height: d.graph().height ?? 100,
  };
}

self.onmessage = (e: MessageEvent<LayoutQuestion>) => {
  self.postMessage({ number: e.data.number, layout: lay(e.data) });
};
