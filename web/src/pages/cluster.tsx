// Many ranks: which are slow, which links, what a step's time goes to, where memory goes, and advice.
import { useEffect, useRef, useState } from "preact/hooks";
import { ask, type Tags } from "../api";
import type { Shown } from "../charts/line";
import { bytes, c, percent, sentence, type ClusterWord } from "../cluster/words";
import { csv } from "../numbers";
import { heat } from "../palette";
import { save } from "../save";
import { t, type View } from "../state";
import { Empty } from "./empty";

interface Row {
  rank: number;
  host: string;
  steps: number;
  seconds: number;
  compute: number;
  communication: number;
  wait: number;
  peak: number;
  slower: number;
}
interface LinkRow {
  collective: string;
  rank: number;
  peer: number;
  seconds: number;
  bandwidth: number;
  share: number;
}
interface Cluster {
  read: [number, number];
  ranks: { ranks: number; expected: number; first_step: number; last_step: number; damaged: number; seconds: number; compute: number; wait: number; communication: number; rows: Row[] };
  memory: { rows: number; columns: number; first: number[]; first_step: number; width: number; cells: number[] };
  links: { links: number; rows: LinkRow[] };
  advice: Record<string, string | number>[];
}

const script = `from mycel.insight import ClusterRecord

record = ClusterRecord("runs/cluster", rank=rank, ranks=ranks)
record.step(step, seconds, compute, [("allreduce", -1, seconds, bytes)], memory, peak_memory)`;
const ms = (v: number) => `${(1000 * v).toFixed(v < 0.01 ? 2 : 1)} ${c("ms")}`;
const parts: { key: "compute" | "communication" | "wait"; colour: string }[] = [
  { key: "compute", colour: "#0072b2" },
  { key: "communication", colour: "#e69f00" },
  { key: "wait", colour: "#cc79a7" },
];

function Bar({ row, most }: { row: Row; most: number }) {
  return (
    <span class="time-bar" role="img" aria-label={parts.map((p) => `${c(p.key)} ${ms(row[p.key])}`).join(", ")}>
      {parts.map((p) => (
        <i key={p.key} style={{ width: `${most ? (100 * row[p.key]) / most : 0}%`, background: p.colour }} />
      ))}
    </span>
  );
}

function Memory({ m }: { m: Cluster["memory"] }) {
  const at = useRef<HTMLCanvasElement>(null);
  const [tip, setTip] = useState("");
  const most = Math.max(...m.cells, 1);
  const [wide, tall] = [Math.max(4, Math.floor(640 / Math.max(1, m.columns))), Math.max(3, Math.floor(256 / Math.max(1, m.rows)))];
  useEffect(() => {
    const canvas = at.current;
    if (!canvas) return;
    canvas.width = m.columns * wide;
    canvas.height = m.rows * tall;
    const g = canvas.getContext("2d")!;
    m.cells.forEach((v, i) => {
      g.fillStyle = `rgb(${heat(v / most).join(",")})`;
      g.fillRect((i % m.columns) * wide, Math.floor(i / m.columns) * tall, wide, tall);
    });
  }, [m]);
  const over = (e: MouseEvent) => {
    const box = at.current!.getBoundingClientRect();
    const x = Math.min(m.columns - 1, Math.floor(((e.clientX - box.left) / box.width) * m.columns));
    const y = Math.min(m.rows - 1, Math.floor(((e.clientY - box.top) / box.height) * m.rows));
    setTip(`${c("rank")} ${m.first[y]}+, ${t("step")} ${m.first_step + x * m.width}+: ${bytes(m.cells[y * m.columns + x])}`);
  };
  return (
    <figure>
      <canvas ref={at} class="memory" onMouseMove={over} role="img" aria-label={`${c("memory")}: ≤ ${bytes(most)}`} />
      <figcaption class="hint">{tip || `0 … ${bytes(most)}`}</figcaption>
    </figure>
  );
}

const columns: { key: keyof Row; word: ClusterWord; show: (r: Row) => string }[] = [
  { key: "rank", word: "rank", show: (r) => String(r.rank) },
  { key: "host", word: "hosts", show: (r) => r.host },
  { key: "seconds", word: "stepTime", show: (r) => ms(r.seconds) },
  { key: "compute", word: "compute", show: (r) => ms(r.compute) },
  { key: "slower", word: "slower", show: (r) => percent(r.slower) },
  { key: "communication", word: "communication", show: (r) => ms(r.communication) },
  { key: "wait", word: "wait", show: (r) => ms(r.wait) },
  { key: "peak", word: "peak", show: (r) => bytes(r.peak) },
];

export function ClusterPage({ view, chosen, version }: { view: View; chosen: Shown[]; version: number }) {
  const [runs, setRuns] = useState<Shown[] | null>(null);
  const [found, setFound] = useState<Cluster | null>(null);
  const [turn, setTurn] = useState(0);
  const ids = chosen.map((r) => r.id).join();
  useEffect(() => {
    let old = false;
    ask<Tags>("tags").then(
      (tags) => {
        const held = new Set((tags.record ?? []).filter((r) => r.tag === "cluster/steps").flatMap((r) => r.runs.map(([run]) => run)));
        if (!old) setRuns(chosen.filter((r) => held.has(r.id)));
      },
      () => {},
    );
    return () => {
      old = true;
    };
  }, [version, ids]);
  const run = runs?.find((r) => r.name === view.get("run")) ?? runs?.[0];
  const sort = view.get("sort", "compute");
  const limit = view.number("rows", 50);
  useEffect(() => {
    if (!run) return;
    let old = false;
    let timer = 0;
    ask<Cluster>("cluster", { run: run.id, sort, limit }).then(
      (a) => {
        if (old) return;
        setFound(a);
        if (a.read[0] < a.read[1]) timer = setTimeout(() => setTurn((n) => n + 1), 50);
      },
      () => {},
    );
    return () => {
      old = true;
      clearTimeout(timer);
    };
  }, [run?.id, version, sort, limit, turn]);
  if (runs && !run) return <Empty text={c("none")} code={script} />;
  if (!run || !found) return null;
  const r = found.ranks;
  const most = Math.max(...r.rows.map((x) => x.compute + x.communication + x.wait));
  const exportCsv = () => save("cluster.csv", csv([columns.map((k) => k.key), ...r.rows.map((x) => columns.map((k) => x[k.key]))]), "text/csv");
  return (
    <div class="cluster" data-run={run.name}>
      <p class="controls">
        {runs!.length > 1 && (
          <select aria-label={t("run")} value={run.name} onChange={(e) => view.set({ run: e.currentTarget.value })}>
            {runs!.map((x) => (
              <option key={x.id}>{x.name}</option>
            ))}
          </select>
        )}
        <strong>
          <output id="ranks">{r.ranks}</output> {c("ranks")}
        </strong>
        <span>
          {t("step")} {r.first_step}–{r.last_step}
        </span>
        <span>
          {c("stepTime")} {ms(r.seconds)}
        </span>
        {parts.map((p) => (
          <span key={p.key}>
            <i style={{ background: p.colour }} /> {c(p.key)} <output id={`share-${p.key}`}>{percent(r.seconds ? r[p.key] / r.seconds : 0)}</output>
          </span>
        ))}
        {found.read[0] < found.read[1] && (
          <span role="status">
            {c("reading")} {found.read[0]}/{found.read[1]}
          </span>
        )}
        {r.damaged > 0 && (
          <em>
            {r.damaged} {c("damaged")}
          </em>
        )}
      </p>
      <section class="card" id="advice">
        <h2>{c("advice")}</h2>
        {found.advice.length ? (
          <ol>
            {found.advice.slice(0, 12).map((f, i) => (
              <li key={i} data-kind={f.kind} data-rank={f.rank} data-host={f.host}>
                {sentence(f)}
              </li>
            ))}
          </ol>
        ) : (
          <p>{c("fine")}</p>
        )}
      </section>
      <section class="part">
        <h2>{c("memory")}</h2>
        <Memory m={found.memory} />
      </section>
      <section class="part">
        <h2>
          {c("table")} <button onClick={exportCsv}>CSV</button>
        </h2>
        <div class="scroll" tabIndex={0} role="region" aria-label={c("table")}>
          <table id="rank-table">
            <thead>
              <tr>
                {columns.map((k) => (
                  <th key={k.key} aria-sort={sort === k.key ? "descending" : undefined}>
                    {k.key === "host" || k.key === "slower" ? c(k.word) : <button onClick={() => view.set({ sort: k.key })}>{c(k.word)}</button>}
                  </th>
                ))}
                <th>{c("stepTime")}</th>
              </tr>
            </thead>
            <tbody>
              {r.rows.map((x) => (
                <tr key={x.rank} data-rank={x.rank}>
                  {columns.map((k) => (
                    <td key={k.key}>{k.show(x)}</td>
                  ))}
                  <td>
                    <Bar row={x} most={most} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
        {r.rows.length < r.ranks && limit < 4096 && <button onClick={() => view.set({ rows: Math.min(4096, limit * 4) })}>+</button>}
      </section>
      {found.links.rows.length > 0 && (
        <section class="part">
          <h2>{c("links")}</h2>
          <div class="scroll" tabIndex={0} role="region" aria-label={c("links")}>
            <table id="link-table">
              <thead>
                <tr>
                  {(["collective", "rank", "peer", "stepTime", "bandwidth", "share"] as ClusterWord[]).map((k) => (
                    <th key={k}>{c(k)}</th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {found.links.rows.slice(0, 20).map((x, i) => (
                  <tr key={i}>
                    <td>{x.collective}</td>
                    <td>{x.rank}</td>
                    <td>{x.peer < 0 ? "*" : x.peer}</td>
                    <td>{ms(x.seconds)}</td>
                    <td>{bytes(x.bandwidth)}/s</td>
                    <td>{percent(x.share)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </section>
      )}
    </div>
  );
}
