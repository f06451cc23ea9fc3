import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { ask, type Tags } from "../api";
import type { Shown } from "../charts/line";
import { layOut, type Layout } from "../layout";
import { edges, outline, wayTo, type Group, type Part, type RecordedGraph } from "../outline";
import { colourOf } from "../palette";
import { t, type View } from "../state";
import { Empty } from "./empty";
import { graphOfPass, PassChooser, usePasses } from "./passes";

function label(g: RecordedGraph, p: Part): [string, string] {
  if ("group" in p) return [p.group.name, `${p.group.count} ${t("nodes")}`];
  const n = g.nodes[p.node];
  return [n.name ? n.name : n.op, n.types[0] ?? ""];
}

function layout(g: RecordedGraph, group: Group): Promise<Layout> {
  const widths = group.parts.map((p) => 24 + 7 * Math.max(...label(g, p).map((s) => s.length)));
  return layOut(widths, edges(g, group));
}

export function GraphPage({ view, chosen, version }: { view: View; chosen: Shown[]; version: number }) {
  const [tags, setTags] = useState<Tags | null>(null);
  const [graph, setGraph] = useState<RecordedGraph | null>(null);
  useEffect(() => {
    ask<Tags>("tags").then(setTags, () => {});
  }, [version]);
  const held = (tags?.record ?? []).filter((r) => r.tag.startsWith("graph/"));
  const choices = held.flatMap((h) => chosen.filter((c) => h.runs.some(([r]) => r === c.id)).map((run) => ({ tag: h.tag, run })));
  const wanted = view.get("graph");
  const choice = choices.find((c) => `${c.run.id}/${c.tag}` === wanted) ?? choices[0];
  const key = choice ? `${choice.run.id}/${choice.tag}` : "";
  useEffect(() => {
    let old = false;
    setGraph(null);
    if (choice) ask<RecordedGraph>("record", { run: choice.run.id, tag: choice.tag }).then((g) => !old && setGraph(g), () => {});
    return () => {
      old = true;
    };
  }, [key]);
  const recorded = (tags?.record ?? []).some((r) => r.tag === choice?.tag.replace(/^graph\//, "graph_passes/") && r.runs.some(([id]) => id === choice?.run.id));
  const passes = usePasses(choice?.run.id, choice?.tag, recorded);
  const top = graphOfPass(view, passes, graph);
  if (tags && !choices.length)
    return <Empty text={t("noGraph")} code={"mycel.set_context(mode=mycel.GRAPH_MODE)\nmodel.train(10, dataset, callbacks=[SummaryCollector(\"runs/first\")])"} />;
  return (
    <>
      <form class="controls" onSubmit={(e) => e.preventDefault()}>
        <label>
          {t("graph")}
          <select id="graph" value={key} onChange={(e) => view.set({ graph: e.currentTarget.value, at: "", node: "", pass: "" })}>
            {choices.map((c) => (
              <option key={`${c.run.id}/${c.tag}`} value={`${c.run.id}/${c.tag}`}>
                {c.run.name}: {c.tag.slice(6)}
              </option>
            ))}
          </select>
        </label>
        {passes && <PassChooser view={view} passes={passes} />}
        <span class="hint">{t("expand")}</span>
      </form>
      {top && <Shows view={view} top={top} />}
    </>
  );
}

// The graph that a path of regions leads to: "12.0" is the first region of node 12.
function inside(top: RecordedGraph, path: string): RecordedGraph {
  let g = top;
  for (const step of path.split("/").filter(Boolean)) {
    const [node, region] = step.split(".").map(Number);
    const next = g.nodes[node]?.regions?.[region];
    if (!next) break;
    g = next;
  }
  return g;
}

function Shows({ view, top }: { view: View; top: RecordedGraph }) {
  const regions = view.get("region");
  const g = useMemo(() => inside(top, regions), [top, regions]);
  const tree = useMemo(() => outline(g), [g]);
  const way = view.get("at").split(".").filter(Boolean).map(Number);
  const groups: Group[] = [tree];
  for (const i of way) {
    const p = groups[groups.length - 1].parts[i];
    if (!p || !("group" in p)) break;
    groups.push(p.group);
  }
  const group = groups[groups.length - 1];
  const [laid, setLaid] = useState<{ group: Group; layout: Layout } | null>(null);
  useEffect(() => {
    let old = false;
    layout(g, group).then((l) => !old && setLaid({ group, layout: l }));
    return () => {
      old = true;
    };
  }, [g, group]);
  const drawn = laid?.layout ?? { places: [], joins: [], width: 100, height: 100 };
  const node = view.number("node", -1);
  const [zoom, setZoom] = useState({ x: 0, y: 0, k: 1 });
  const drag = useRef<{ x: number; y: number } | null>(null);
  const [wanted, setWanted] = useState("");
  useEffect(() => setZoom({ x: 0, y: 0, k: 1 }), [group]);
  const hits = useMemo(() => {
    const q = wanted.toLowerCase();
    if (!q) return [];
    return g.nodes.map((n, i) => ({ n, i })).filter(({ n }) => `${n.op} ${n.name ?? ""} ${n.at ?? ""}`.toLowerCase().includes(q));
  }, [g, wanted]);
  const show = (i: number) => view.set({ node: i, at: (wayTo(tree, i) ?? []).join(".") });
  const w = Math.max(drawn.width + 40, 300);
  const h = Math.max(drawn.height + 40, 200);
  return (
    <div class="graph">
      <div class="canvas">
        <nav class="crumbs">
          {regions && <button onClick={() => view.set({ region: regions.split("/").slice(0, -1).join("/"), at: "", node: "" })}>⤴ {t("back")}</button>}
          {groups.map((x, i) => (
            <button key={i} onClick={() => view.set({ at: way.slice(0, i).join("."), node: "" })} aria-current={x === group}>
              {x.name} <small>{x.count}</small>
            </button>
          ))}
        </nav>
        <svg
          viewBox={`${-20 - zoom.x} ${-20 - zoom.y} ${w / zoom.k} ${h / zoom.k}`}
          style={{ height: `min(75vh, ${h}px)` }}
          onWheel={(e) => {
            e.preventDefault();
            setZoom((z) => ({ ...z, k: Math.min(8, Math.max(0.2, z.k * (e.deltaY < 0 ? 1.15 : 0.87))) }));
          }}
          onPointerDown={(e) => {
            drag.current = { x: e.clientX, y: e.clientY };
          }}
          onPointerMove={(e) => {
            if (!drag.current) return;
            const dx = (e.clientX - drag.current.x) / zoom.k;
            const dy = (e.clientY - drag.current.y) / zoom.k;
            drag.current = { x: e.clientX, y: e.clientY };
            setZoom((z) => ({ ...z, x: z.x + dx, y: z.y + dy }));
          }}
          onPointerUp={() => {
            drag.current = null;
          }}
          onPointerLeave={() => {
            drag.current = null;
          }}
        >
          <defs>
            <marker id="arrow" viewBox="0 0 6 6" refX="5" refY="3" markerWidth="6" markerHeight="6" orient="auto">
              <path d="M0 0 6 3 0 6z" class="tip" />
            </marker>
          </defs>
          {(laid?.group === group ? drawn.joins : []).map((e) => {
            const mid = e.points[Math.floor(e.points.length / 2)];
            return (
              <g key={`${e.from} ${e.to}`} class="join">
                <path d={`M${e.points.map((p) => `${p.x} ${p.y}`).join("L")}`} marker-end="url(#arrow)" />
                <text x={mid.x + 4} y={mid.y}>
                  {e.label}
                </text>
              </g>
            );
          })}
          {(laid?.group === group ? group.parts : []).map((p, i) => {
            const at = drawn.places[i];
            const [name, below] = label(g, p);
            const isGroup = "group" in p;
            const open = () => (isGroup ? view.set({ at: [...way, i].join("."), node: "" }) : view.set({ node: p.node }));
            const special = !isGroup && g.nodes[p.node].regions;
            return (
              <g
                key={i}
                class={`node ${isGroup ? "group" : g.nodes[p.node].op === "parameter" ? "parameter" : "op"} ${!isGroup && p.node === node ? "chosen" : ""}`}
                transform={`translate(${at.x - at.width / 2} ${at.y - at.height / 2})`}
                tabindex={0}
                role="button"
                onClick={open}
                onKeyDown={(e) => (e.key === "Enter" || e.key === " ") && open()}
              >
                <rect width={at.width} height={at.height} rx={isGroup ? 4 : 12} style={special ? { stroke: colourOf(1) } : {}} />
                <text x={at.width / 2} y={17}>
                  {name}
                </text>
                <text x={at.width / 2} y={32} class="below">
                  {below}
                </text>
              </g>
            );
          })}
        </svg>
      </div>
      <aside>
        <label>
          {t("search")} <input id="search" type="search" value={wanted} onInput={(e) => setWanted(e.currentTarget.value)} />
        </label>
        {wanted && (
          <p>
            <output id="hits">{hits.length}</output> {t("found")}
          </p>
        )}
        <ul class="hits">
          {hits.slice(0, 100).map(({ n, i }) => (
            <li key={i}>
              <button onClick={() => show(i)}>
                %{i} {n.name ?? n.op}
              </button>
            </li>
          ))}
        </ul>
        {node >= 0 && g.nodes[node] && <Facts g={g} node={node} show={show} open={(r) => view.set({ region: `${regions ? `${regions}/` : ""}${node}.${r}`, at: "", node: "" })} />}
      </aside>
    </div>
  );
}

function Facts({ g, node, show, open }: { g: RecordedGraph; node: number; show: (i: number) => void; open: (region: number) => void }) {
  const n = g.nodes[node];
  const users = g.nodes.map((u, i) => ({ u, i })).filter(({ u }) => u.in?.some(([s]) => s === node));
  const link = (i: number, text: string) => (
    <button class="link" onClick={() => show(i)}>
      %{i} {text}
    </button>
  );
  return (
    <section id="node-facts">
      <h3>
        %{node} {n.op}
        {n.name && ` “${n.name}”`}
      </h3>
      <dl>
        <dt>{t("types")}</dt>
        <dd>{n.types.join(", ")}</dd>
        {n.at && (
          <>
            <dt>{t("source")}</dt>
            <dd class="source">{n.at}</dd>
          </>
        )}
        {n.in && (
          <>
            <dt>{t("operands")}</dt>
            <dd>{n.in.map(([s, k]) => link(s, `${g.nodes[s].name ?? g.nodes[s].op} ${g.nodes[s].types[k] ?? ""}`))}</dd>
          </>
        )}
        {users.length > 0 && (
          <>
            <dt>{t("users")}</dt>
            <dd>{users.slice(0, 50).map(({ u, i }) => link(i, u.op))}</dd>
          </>
        )}
        {n.attrs && (
          <>
            <dt>{t("attributes")}</dt>
            <dd>
              {Object.entries(n.attrs).map(([k, v]) => (
                <div key={k}>
                  {k} = {v}
                </div>
              ))}
            </dd>
          </>
        )}
        {n.regions && (
          <>
            <dt>{t("region")}</dt>
            <dd>
              {n.regions.map((r, i) => (
                <button key={i} class="link" onClick={() => open(i)}>
                  {t("open")} {r.name} ({r.nodes.length})
                </button>
              ))}
            </dd>
          </>
        )}
      </dl>
    </section>
  );
}
