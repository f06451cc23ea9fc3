// One tensor: statistics beside those of the step before, histogram, heat maps, a window of numbers,
// the user's line.
import { useEffect, useRef, useState } from "preact/hooks";
import { ask } from "../api";
import { short } from "../numbers";
import { heat as colour } from "../palette";
import { t, type View } from "../state";
import { place, type Heat, type Statistics, type Tensor } from "./api";
import { roleWord, w } from "./words";

const cell = 6;

// Cells by their means; NaN magenta with a cross, infinity with a bar, so that no colour alone says it.
export function paint(canvas: HTMLCanvasElement, h: Heat) {
  canvas.width = h.columns * cell;
  canvas.height = h.rows * cell;
  const c = canvas.getContext("2d")!;
  const range = (h.high ?? 1) - (h.low ?? 0) || 1;
  h.cells.forEach((v, i) => {
    const [x, y] = [(i % h.columns) * cell, Math.floor(i / h.columns) * cell];
    c.fillStyle = v === null ? "#c000c0" : `rgb(${colour((v - (h.low ?? 0)) / range).join(",")})`;
    c.fillRect(x, y, cell, cell);
    if (!h.marks[i]) return;
    c.strokeStyle = "#ffffff";
    c.beginPath();
    if (h.marks[i] & 1) {
      c.moveTo(x + 1, y + 1);
      c.lineTo(x + cell - 1, y + cell - 1);
      c.moveTo(x + cell - 1, y + 1);
      c.lineTo(x + 1, y + cell - 1);
    } else {
      c.moveTo(x + 1, y + cell / 2);
      c.lineTo(x + cell - 1, y + cell / 2);
    }
    c.stroke();
  });
}

function HeatMap({ h, title }: { h: Heat; title: string }) {
  const at = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    if (at.current) paint(at.current, h);
  }, [h]);
  const bad = h.marks.filter(Boolean).length;
  return (
    <figure>
      <figcaption>
        {title}{" "}
        <small>
          {short(h.low)} … {short(h.high)} {bad > 0 && <em>NaN/∞ {bad}</em>} {h.sampled && w("sampled")}
        </small>
      </figcaption>
      <canvas ref={at} class="heat" role="img" aria-label={`${title}: ${short(h.low)} – ${short(h.high)}`} />
    </figure>
  );
}

function Histogram({ h }: { h: NonNullable<Tensor["histogram"]> }) {
  const most = Math.max(...h.buckets, 1);
  const n = h.buckets.length;
  return (
    <figure>
      <figcaption>
        {w("histogram")}{" "}
        <small>
          {short(h.min)} … {short(h.limits[n - 1])}
        </small>
      </figcaption>
      <svg class="bars-chart" viewBox={`0 0 ${n * 6} 80`} role="img" aria-label={w("histogram")} preserveAspectRatio="none">
        {h.buckets.map((b, i) => (
          <rect key={i} x={i * 6} width={5} y={80 - (80 * b) / most} height={(80 * b) / most}>
            <title>
              ≤ {short(h.limits[i])}: {b}
            </title>
          </rect>
        ))}
      </svg>
    </figure>
  );
}

function Table({ now, before }: { now: Statistics; before?: Statistics }) {
  return (
    <table class="statistics" id="statistics">
      <thead>
        <tr>
          <th>{w("statistics")}</th>
          <th>{w("now")}</th>
          {before && <th>{w("before")}</th>}
        </tr>
      </thead>
      <tbody>
        {Object.entries(now).map(([k, v]) => {
          const bad = (k === "nan" || k.endsWith("inf")) && v > 0;
          return (
            <tr key={k} data-statistic={k}>
              <th scope="row">{k}</th>
              <td>{bad ? <em>{short(v)}</em> : short(v)}</td>
              {before && <td>{short(before[k])}</td>}
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

interface Lines {
  first: number;
  line: number;
  lines: string[];
}
function Source({ run, at }: { run: number; at: string }) {
  const where = place(at);
  const [found, setFound] = useState<Lines | null | undefined>(undefined);
  useEffect(() => {
    let old = false;
    setFound(undefined);
    if (where) ask<Lines>("debugsource", { run, path: where.path, line: where.line }).then((a) => !old && setFound(a), () => !old && setFound(null));
    return () => {
      old = true;
    };
  }, [run, at]);
  if (!where) return null;
  return (
    <section class="source-view" id="source">
      <h3>
        {w("source")} <small class="source">{at}</small>
      </h3>
      {found === null && <p class="hint">{w("noSource")}</p>}
      {found && (
        <pre tabIndex={0}>
          {found.lines.map((text, i) => (
            <span key={i} class={found.first + i === where.line ? "here" : ""} data-line={found.first + i}>
              <b>{found.first + i}</b> {text}
              {"\n"}
            </span>
          ))}
        </pre>
      )}
    </section>
  );
}

export function TensorView({ run, step, name, version, view, choose }: { run: number; step: number; name: string; version: number; view: View; choose: (name: string) => void }) {
  const [found, setFound] = useState<Tensor | null>(null);
  const [error, setError] = useState("");
  const slice = view.get("slice");
  const [row, column] = [view.number("row", 0), view.number("column", 0)];
  useEffect(() => {
    let old = false;
    const args: Record<string, string | number> = { run, step, name, row, column };
    if (slice) args.slice = slice;
    ask<Tensor>("debugtensor", args).then(
      (a) => {
        if (old) return;
        setFound(a);
        setError("");
      },
      (e: Error) => !old && setError(e.message),
    );
    return () => {
      old = true;
    };
  }, [run, step, name, slice, row, column, version]);
  if (!found || found.name !== name) return error ? <p class="error">{error}</p> : null;
  const x = found.window;
  const move = (dr: number, dc: number) => view.set({ row: Math.max(0, row + dr) || "", column: Math.max(0, column + dc) || "" });
  return (
    <article class="tensor card" id="tensor" data-name={found.name}>
      <header>
        <h2>{found.name}</h2>
      </header>
      <p class="facts">
        {roleWord(found.role)} {found.op && <>· {found.op} </>}· {found.dtype}[{found.shape.join(", ")}] · {t("step")} {found.step}
        {found.visits > 1 && ` · ${found.visits} ${w("visits")}`}
      </p>
      {error && <p class="error">{error}</p>}
      {!found.kept && <p class="hint">{w("notKept")}</p>}
      <div class="tensor-parts">
        {found.statistics && <Table now={found.statistics} before={found.before?.statistics} />}
        <div>
          {found.histogram && <Histogram h={found.histogram} />}
          {found.heat && <HeatMap h={found.heat} title={w("heat")} />}
          {found.before && (
            <>
              <HeatMap h={found.before.heat} title={`${w("change")} ${found.before.step}`} />
              <p class="facts" id="change">
                {w("meanChange")} {short(found.before.mean_change)} · {w("largest")} {short(found.before.largest_change)} · ratio {short(found.before.ratio)}
              </p>
            </>
          )}
        </div>
      </div>
      {x && (
        <section>
          <h3>{w("numbers")}</h3>
          <p class="controls">
            <label>
              {w("slice")} <input id="slice" value={slice} placeholder={found.slice} onChange={(e) => view.set({ slice: e.currentTarget.value.trim(), row: "", column: "" })} />
            </label>
            {x.rows > 24 && (
              <span>
                <button onClick={() => move(-24, 0)}>↑</button> <button onClick={() => move(24, 0)}>↓</button>
              </span>
            )}
            {x.columns > 12 && (
              <span>
                <button onClick={() => move(0, -12)}>←</button> <button onClick={() => move(0, 12)}>→</button>
              </span>
            )}
          </p>
          <div class="scroll" tabIndex={0} role="region" aria-label={w("numbers")}>
            <table id="numbers">
              <thead>
                <tr>
                  <th>
                    {w("row")} / {w("column")}
                  </th>
                  {x.values[0]?.map((_, c) => <th key={c}>{x.column + c}</th>)}
                </tr>
              </thead>
              <tbody>
                {x.values.map((line, r) => (
                  <tr key={r}>
                    <th scope="row">{x.row + r}</th>
                    {line.map((v, c) => (
                      <td key={c}>{typeof v === "number" ? short(v) : <em>{v}</em>}</td>
                    ))}
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </section>
      )}
      {found.inputs.length > 0 && (
        <section>
          <h3>{w("inputs")}</h3>
          <ul id="inputs">
            {found.inputs.map((i) => (
              <li key={i}>
                <button class="link" onClick={() => choose(i)}>
                  {i}
                </button>
              </li>
            ))}
          </ul>
        </section>
      )}
      {found.at && <Source run={run} at={found.at} />}
    </article>
  );
}
