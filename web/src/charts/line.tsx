// One tag of many runs over steps or time. Where the server has put many values into one column the
// range is a band and the line is their mean.
import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { ask, type Curve } from "../api";
import { inner, positions, short, smooth, csv, type Axis } from "../numbers";
import { colourOf, dashOf } from "../palette";
import { save, savePicture, svg } from "../save";
import { t } from "../state";

export interface Shown {
  id: number;
  name: string;
  colour: number;
}
interface Props {
  tag: string;
  runs: Shown[];
  axis: Axis;
  log: boolean;
  weight: number;
  outliers: boolean;
  version: number;
  dark: boolean;
}

interface Loaded {
  [run: string]: Curve;
}

function useSeen(ref: { current: HTMLElement | null }): boolean {
  const [seen, setSeen] = useState(false);
  useEffect(() => {
    const watcher = new IntersectionObserver((e) => setSeen(e.some((x) => x.isIntersecting)), { rootMargin: "200px" });
    if (ref.current) watcher.observe(ref.current);
    return () => watcher.disconnect();
  }, []);
  return seen;
}

export function LineChart(p: Props) {
  const box = useRef<HTMLDivElement>(null);
  const card = useRef<HTMLElement>(null);
  const plot = useRef<uPlot | null>(null);
  const [curves, setCurves] = useState<Loaded>({});
  const [cursor, setCursor] = useState<Record<number, number | null> | null>(null);
  const [error, setError] = useState("");
  const seen = useSeen(card);
  const ids = p.runs.map((r) => r.id).join(",");
  const serverAxis = p.axis === "step" ? "step" : "time";

  useEffect(() => {
    if (!seen || !ids) return;
    let old = false;
    const columns = Math.max(200, Math.round((box.current?.clientWidth ?? 400) * 1));
    ask<{ runs: Loaded }>("scalars", { tag: p.tag, runs: ids, columns, axis: serverAxis })
      .then((a) => {
        if (old) return;
        setCurves(a.runs);
        setError("");
      })
      .catch((e: Error) => !old && setError(e.message));
    return () => {
      old = true;
    };
  }, [seen, p.tag, ids, serverAxis, p.version]);

  const present = p.runs.filter((r) => curves[r.id]?.step.length);

  useEffect(() => {
    if (!box.current || !present.length) return;
    const style = getComputedStyle(document.documentElement);
    const ink = style.getPropertyValue("--soft").trim();
    const lineColour = style.getPropertyValue("--line").trim();
    const positive = (v: (number | null)[]) => (p.log ? v.map((x) => (x !== null && x > 0 ? x : null)) : v);
    const tables: uPlot.AlignedData[] = [];
    const series: uPlot.Series[] = [{}];
    const bands: uPlot.Band[] = [];
    const means: number[] = [];
    const all: (number | null)[] = [];
    for (const r of present) {
      const c = curves[r.id];
      const x = positions(c, p.axis);
      const mean = positive(smooth(c.mean, p.weight));
      all.push(...mean);
      const stroke = colourOf(r.colour);
      const faint = p.weight > 0 ? positive(c.mean) : null;
      const columns: (number | null)[][] = [];
      if (c.min && c.max) {
        columns.push(positive(c.max), positive(c.min));
        bands.push({ series: [series.length, series.length + 1], fill: `${stroke}22` });
        series.push({ stroke: `${stroke}00`, width: 0, points: { show: false } }, { stroke: `${stroke}00`, width: 0, points: { show: false } });
        all.push(...positive(c.max), ...positive(c.min));
      } else if (faint) {
        columns.push(faint);
        series.push({ stroke: `${stroke}44`, width: 1, points: { show: false } });
        all.push(...faint);
      }
      columns.push(mean);
      means.push(series.length);
      series.push({ label: r.name, stroke, width: 1.6, dash: dashOf(r.colour), points: { show: x.length === 1, size: 6 } });
      tables.push([x, ...columns] as uPlot.AlignedData);
    }
    const data = tables.length === 1 ? tables[0] : uPlot.join(tables, tables.map((d) => d.map(() => 2)));
    const range = p.outliers && !p.log ? inner(all) : null;
    const made = new uPlot(
      {
        width: box.current.clientWidth,
        height: 240,
        series: series.map((s) => ({ ...s, spanGaps: true })),
        bands,
        legend: { show: false },
        scales: { x: { time: p.axis === "time" }, y: { distr: p.log ? 3 : 1, ...(range ? { range } : {}) } },
        axes: [
          { stroke: ink, grid: { stroke: lineColour, width: 1 }, ticks: { stroke: lineColour } },
          { stroke: ink, grid: { stroke: lineColour, width: 1 }, ticks: { stroke: lineColour }, size: 62, values: (_, v) => v.map((x) => (x === null ? "" : short(x))) },
        ],
        cursor: { sync: { key: p.axis }, drag: { x: true, y: false } },
        hooks: {
          setCursor: [
            (u) => {
              const i = u.cursor.idx;
              if (i === null || i === undefined || (u.cursor.left ?? -1) < 0) return setCursor(null);
              const found: Record<number, number | null> = {};
              present.forEach((r, k) => {
                const column = u.data[means[k]];
                let j = i;
                while (j > 0 && (column[j] === null || column[j] === undefined)) j--;
                found[r.id] = column[j] ?? null;
              });
              setCursor(found);
            },
          ],
        },
      },
      data,
      box.current,
    );
    plot.current = made;
    const sized = new ResizeObserver(() => box.current && made.setSize({ width: box.current.clientWidth, height: 240 }));
    sized.observe(box.current);
    return () => {
      sized.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [curves, p.axis, p.log, p.weight, p.outliers, p.dark, ids]);

  const exportCsv = async () => {
    const whole = await ask<{ runs: Loaded }>("scalars", { tag: p.tag, runs: ids, columns: 20000, axis: serverAxis });
    const rows: unknown[][] = [["run", "step", "time", "mean", "min", "max", "count"]];
    for (const r of p.runs) {
      const c = whole.runs[r.id];
      c?.step.forEach((s, i) => rows.push([r.name, s, c.when[i], c.mean[i], c.min?.[i] ?? c.mean[i], c.max?.[i] ?? c.mean[i], c.count?.[i] ?? 1]));
    }
    save(`${p.tag}.csv`, csv(rows), "text/csv");
  };
  const exportSvg = () =>
    save(
      `${p.tag}.svg`,
      svg(
        p.tag,
        present.map((r) => ({ name: r.name, colour: colourOf(r.colour), dash: dashOf(r.colour), x: positions(curves[r.id], p.axis), y: smooth(curves[r.id].mean, p.weight) })),
        p.log,
      ),
      "image/svg+xml",
    );

  return (
    <section class="card" ref={card} data-tag={p.tag} aria-label={p.tag}>
      <header>
        <h3>{p.tag}</h3>
        <span class="tools">
          <button onClick={exportCsv}>CSV</button>
          <button onClick={() => plot.current && savePicture(`${p.tag}.png`, plot.current.root.querySelector("canvas")!)}>PNG</button>
          <button onClick={exportSvg}>SVG</button>
        </span>
      </header>
      {error && <p class="error">{error}</p>}
      <div class="plot" ref={box} />
      <ul class="legend">
        {present.map((r) => {
          const c = curves[r.id];
          const bad = c.not_finite.reduce((a, b) => a + b, 0);
          const last = c.mean.findLast((v) => v !== null);
          return (
            <li key={r.id} data-run={r.name}>
              <i style={{ background: colourOf(r.colour) }} />
              <span class="name" title={r.name}>
                {r.name}
              </span>
              <output>{short(cursor ? cursor[r.id] : last)}</output>
              {bad > 0 && (
                <em>
                  {bad} {t("notFinite")}
                </em>
              )}
            </li>
          );
        })}
      </ul>
    </section>
  );
}
