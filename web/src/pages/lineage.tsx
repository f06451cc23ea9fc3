import { useEffect, useState } from "preact/hooks";
import { ask, type LineageRow } from "../api";
import type { Shown } from "../charts/line";
import { csv, short } from "../numbers";
import { colourOf, heat } from "../palette";
import { correlation } from "../ranks";
import { save } from "../save";
import { t, type View } from "../state";

type Cell = number | string | boolean | null | undefined;

function cell(r: LineageRow, column: string): Cell {
  if (column === "name") return r.name;
  return column.startsWith("▸") ? r.scalars[column.slice(1)] : r.facts[column];
}

// Facts that differ first, then results.
function columnsOf(rows: LineageRow[]): string[] {
  const facts = new Map<string, Set<unknown>>();
  const scalars = new Set<string>();
  for (const r of rows) {
    for (const [k, v] of Object.entries(r.facts)) facts.set(k, (facts.get(k) ?? new Set()).add(v));
    for (const k of Object.keys(r.scalars)) scalars.add(k);
  }
  const differing = [...facts].filter(([, v]) => v.size > 1 || rows.length === 1).map(([k]) => k);
  const same = [...facts].filter(([, v]) => v.size === 1 && rows.length > 1).map(([k]) => k);
  return [...differing, ...[...scalars].map((s) => `▸${s}`), ...same];
}

function compare(a: Cell, b: Cell): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (a === null || a === undefined) return b === null || b === undefined ? 0 : 1;
  if (b === null || b === undefined) return -1;
  return String(a).localeCompare(String(b), undefined, { numeric: true });
}

export function LineagePage({ view, chosen, version }: { view: View; chosen: Shown[]; version: number }) {
  const [rows, setRows] = useState<LineageRow[]>([]);
  useEffect(() => {
    let old = false;
    ask<LineageRow[]>("lineage").then((r) => !old && setRows(r), () => {});
    return () => {
      old = true;
    };
  }, [version]);
  const shown = rows.filter((r) => chosen.some((c) => c.id === r.run));
  const columns = columnsOf(shown);
  const sort = view.get("sort", "name");
  const down = view.get("down") === "1";
  const sorted = [...shown].sort((a, b) => compare(cell(a, sort), cell(b, sort)) * (down ? -1 : 1));
  const numeric = columns.filter((c) => shown.filter((r) => typeof cell(r, c) === "number").length > 1);
  const colour = (r: LineageRow) => colourOf(chosen.find((c) => c.id === r.run)?.colour ?? 0);
  const target = view.get("target") || numeric.find((c) => c.startsWith("▸eval/acc")) || numeric.find((c) => c.startsWith("▸")) || "";
  const x = view.get("x") || numeric.find((c) => !c.startsWith("▸")) || "";
  const chooser = (key: string, value: string) => (
    <select id={key} aria-label={key === "x" ? "x" : "y"} value={value} onChange={(e) => view.set({ [key]: e.currentTarget.value })}>
      {numeric.map((c) => (
        <option key={c} value={c}>
          {c}
        </option>
      ))}
    </select>
  );
  const exportCsv = () => save("lineage.csv", csv([["run", ...columns], ...sorted.map((r) => [r.name, ...columns.map((c) => cell(r, c))])]), "text/csv");
  return (
    <>
      <section class="part">
        <h2>
          {t("table")} <button onClick={exportCsv}>CSV</button>
        </h2>
        <div class="scroll">
          <table id="lineage">
            <thead>
              <tr>
                {["name", ...columns].map((c) => (
                  <th key={c} aria-sort={sort === c ? (down ? "descending" : "ascending") : "none"}>
                    <button onClick={() => view.set({ sort: c, down: sort === c && !down ? "1" : "" })}>
                      {c === "name" ? t("run") : c}
                      {sort === c ? (down ? " ↓" : " ↑") : ""}
                    </button>
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {sorted.map((r) => (
                <tr key={r.run} data-run={r.name}>
                  <th scope="row">
                    <i style={{ background: colour(r) }} />
                    {r.name}
                  </th>
                  {columns.map((c) => {
                    const v = cell(r, c);
                    return (
                      <td key={c} data-column={c}>
                        {typeof v === "number" ? short(v) : v === undefined || v === null ? "" : String(v)}
                      </td>
                    );
                  })}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </section>
      {shown.length > 1 && numeric.length > 1 && (
        <>
          <section class="part">
            <h2>{t("parallel")}</h2>
            <Parallel rows={shown} columns={numeric.filter((c) => c !== target).slice(0, 9).concat(target ? [target] : [])} target={target} />
          </section>
          <div class="cards">
            <section class="card">
              <header>
                <h3>{t("scatter")}</h3>
                <span class="tools">
                  {chooser("x", x)} × {chooser("target", target)}
                </span>
              </header>
              <Scatter rows={shown} x={x} y={target} colour={colour} />
            </section>
            <section class="card" id="importance">
              <header>
                <h3>{t("importance")}</h3>
              </header>
              <p class="facts">
                {t("importanceOf")} {target} ({t("correlation")})
              </p>
              <ul class="bars">
                {numeric
                  .filter((c) => !c.startsWith("▸"))
                  .map((c) => {
                    const both = shown.filter((r) => typeof cell(r, c) === "number" && typeof cell(r, target) === "number");
                    return { c, v: correlation(both.map((r) => cell(r, c) as number), both.map((r) => cell(r, target) as number)) };
                  })
                  .sort((a, b) => Math.abs(b.v) - Math.abs(a.v))
                  .slice(0, 15)
                  .map(({ c, v }) => (
                    <li key={c} data-column={c}>
                      <span>{c}</span>
                      <span class="bar" style={{ width: `${Math.abs(v) * 45}%`, background: colourOf(v < 0 ? 1 : 0) }} />
                      <output>{v.toFixed(2)}</output>
                    </li>
                  ))}
              </ul>
            </section>
          </div>
        </>
      )}
    </>
  );
}

function range(values: number[]): [number, number] {
  const [a, b] = [Math.min(...values), Math.max(...values)];
  return a === b ? [a - 1, b + 1] : [a, b];
}

function Parallel({ rows, columns, target }: { rows: LineageRow[]; columns: string[]; target: string }) {
  const [w, h] = [1000, 260];
  const ranges = columns.map((c) => range(rows.map((r) => cell(r, c)).filter((v): v is number => typeof v === "number")));
  const px = (i: number) => 60 + (i * (w - 120)) / Math.max(1, columns.length - 1);
  const py = (i: number, v: number) => h - 30 - ((v - ranges[i][0]) / (ranges[i][1] - ranges[i][0])) * (h - 60);
  const last = columns.indexOf(target);
  return (
    <svg class="parallel" viewBox={`0 0 ${w} ${h}`} role="img" aria-label={t("parallel")}>
      {rows.map((r) => {
        const points = columns.map((c, i) => [i, cell(r, c)] as const).filter((p): p is readonly [number, number] => typeof p[1] === "number");
        const v = last >= 0 ? cell(r, target) : null;
        const share = typeof v === "number" ? (v - ranges[last][0]) / (ranges[last][1] - ranges[last][0]) : 0.5;
        return (
          <polyline key={r.run} points={points.map(([i, y]) => `${px(i)},${py(i, y)}`).join(" ")} stroke={`rgb(${heat(share * 0.85).join(",")})`}>
            <title>{r.name}</title>
          </polyline>
        );
      })}
      {columns.map((c, i) => (
        <g key={c}>
          <path d={`M${px(i)} 30V${h - 30}`} />
          <text x={px(i)} y={18}>
            {c.length > 18 ? `${c.slice(0, 17)}…` : c}
          </text>
          <text x={px(i)} y={h - 14}>
            {short(ranges[i][0])}
          </text>
          <text x={px(i)} y={h - 2} class="soft">
            … {short(ranges[i][1])}
          </text>
        </g>
      ))}
    </svg>
  );
}

function Scatter({ rows, x, y, colour }: { rows: LineageRow[]; x: string; y: string; colour: (r: LineageRow) => string }) {
  const points = rows.map((r) => ({ r, a: cell(r, x), b: cell(r, y) })).filter((p): p is { r: LineageRow; a: number; b: number } => typeof p.a === "number" && typeof p.b === "number");
  if (!points.length) return <p>{t("nothing")}</p>;
  const [w, h] = [480, 260];
  const [x0, x1] = range(points.map((p) => p.a));
  const [y0, y1] = range(points.map((p) => p.b));
  return (
    <svg class="scatter" viewBox={`0 0 ${w} ${h}`} role="img" aria-label={`${x} × ${y}`}>
      <path d={`M60 10V${h - 30}H${w - 10}`} />
      <text x={60} y={h - 12}>
        {short(x0)}
      </text>
      <text x={w - 30} y={h - 12}>
        {short(x1)}
      </text>
      <text x={28} y={h - 30}>
        {short(y0)}
      </text>
      <text x={28} y={16}>
        {short(y1)}
      </text>
      {points.map((p) => (
        <circle key={p.r.run} cx={60 + ((p.a - x0) / (x1 - x0)) * (w - 80)} cy={h - 30 - ((p.b - y0) / (y1 - y0)) * (h - 45)} r={5} fill={colour(p.r)}>
          <title>{`${p.r.name}: ${p.a}, ${p.b}`}</title>
        </circle>
      ))}
    </svg>
  );
}
