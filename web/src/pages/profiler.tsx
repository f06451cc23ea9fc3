import { useEffect, useState } from "preact/hooks";
import { address, ask } from "../api";
import type { Shown } from "../charts/line";
import { MemoryCurve, PartLegend, Roofline, StepBars } from "../charts/profile_charts";
import { Timeline } from "../charts/timeline";
import { csv } from "../numbers";
import { duration, size, type Profile, type Row } from "../profile";
import { partName, pt } from "../profile_words";
import { save } from "../save";
import { spoken, type View } from "../state";
import { Empty } from "./empty";

interface Listed {
  file: string;
  run: string;
  bytes: number;
}
const script = `from mycel import Profiler

profiler = Profiler(output_path="runs/first", profile_memory=True)
model.train(1, dataset)
profiler.analyse()`;

export function ProfilerPage({ view, chosen, version, dark }: { view: View; chosen: Shown[]; version: number; dark: boolean }) {
  const [all, setAll] = useState<Listed[] | null>(null);
  const [profile, setProfile] = useState<Profile | null>(null);
  const [error, setError] = useState("");
  useEffect(() => {
    ask<Listed[]>("profiles").then(setAll, () => {});
  }, [version]);
  const wanted = view.get("profile");
  const newest = [...(all ?? [])].reverse();
  const found = newest.find((p) => p.file === wanted) ?? newest.find((p) => chosen.some((c) => c.name === p.run)) ?? newest[0];
  const file = found?.file ?? "";
  useEffect(() => {
    let old = false;
    setProfile(null);
    setError("");
    if (file) ask<Profile>("profile", { file }).then((p) => !old && setProfile(p), (e: Error) => !old && setError(e.message));
    return () => {
      old = true;
    };
  }, [file]);
  if (all && !all.length) return <Empty text={pt("none")} code={script} />;
  return (
    <>
      <form class="controls" onSubmit={(e) => e.preventDefault()}>
        <label>
          {pt("profile")}{" "}
          <select id="profile" value={file} onChange={(e) => view.set({ profile: e.currentTarget.value })}>
            {newest.map((p) => (
              <option key={p.file} value={p.file}>
                {p.file}
              </option>
            ))}
          </select>
        </label>
        {file && (
          <a class="button" id="trace" href={address("trace", { file })} download="trace.json">
            {pt("trace")}
          </a>
        )}
      </form>
      {error && (
        <p class="error" role="alert">
          {error}
        </p>
      )}
      {profile && <Shows p={profile} file={file} view={view} dark={dark} />}
    </>
  );
}

function Shows({ p, file, view, dark }: { p: Profile; file: string; view: View; dark: boolean }) {
  const wall = Math.max(1, p.wall);
  const share = (ns: number) => `${((100 * ns) / wall).toFixed(1)} %`;
  const m = p.machine;
  return (
    <div class="profiler">
      {p.problems.length > 0 && (
        <p class="error" id="damaged">
          {pt("damaged")}: {p.problems.join("; ")}
        </p>
      )}
      <p class="facts">
        {duration(p.wall)} · {m.processor} · {m.threads} {pt("threads")}
        {m.gflops > 0 && ` · ${pt("limits")}: ${m.gflops.toFixed(0)} GFLOP/s, ${m.gbytes.toFixed(1)} GB/s`} · {m.command}
      </p>
      <section class="part" id="advice">
        <h2>{pt("advice")}</h2>
        <ul>
          {p.advice.map((a) => (
            <li key={a.rule} data-rule={a.rule} class="advice">
              <strong>{a.rule.replaceAll("_", " ")}</strong> {spoken() === "zh" ? a.zh : a.en}
            </li>
          ))}
        </ul>
      </section>
      <section class="part">
        <h2>
          {pt("steps")} <small>{p.step_count}</small>
        </h2>
        {p.steps_guessed && <p class="facts">{pt("guessed")}</p>}
        <div class="card">
          <StepBars p={p} />
          <PartLegend p={p} />
        </div>
      </section>
      <section class="part">
        <h2>{pt("timeline")}</h2>
        <div class="card">
          <Timeline file={file} length={p.length} dark={dark} />
        </div>
      </section>
      <Kernels p={p} view={view} share={share} />
      <Ops p={p} view={view} share={share} />
      <section class="part">
        <h2>{pt("roofline")}</h2>
        <div class="card">
          <Roofline p={p} choose={(r) => view.set({ kernel: r.name })} />
        </div>
      </section>
      <section class="part">
        <h2>{pt("memory")}</h2>
        {p.memory.recorded ? <MemoryPart p={p} view={view} /> : <p class="facts">{pt("noMemory")}</p>}
      </section>
      <div class="cards">
        <section class="card" id="threads">
          <header>
            <h3>{pt("threads")}</h3>
          </header>
          <table>
            <thead>
              <tr>
                <th scope="col">{pt("threads")}</th>
                <th scope="col">{pt("busy")}</th>
                <th scope="col">{pt("waiting")}</th>
                <th scope="col">{pt("slices")}</th>
              </tr>
            </thead>
            <tbody>
              {p.threads.map((t) => (
                <tr key={t.name} data-thread={t.name}>
                  <th scope="row">{t.name}</th>
                  <td>{share(t.busy)}</td>
                  <td>{share(t.waiting)}</td>
                  <td>
                    {t.slices}
                    {t.dropped > 0 && ` (+${t.dropped} ${pt("dropped")})`}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
        <section class="card" id="data">
          <header>
            <h3>{pt("dataQueue")}</h3>
          </header>
          <ul>
            {p.data.map((d) => (
              <li key={d.name}>
                {d.name}: {d.rows} {pt("rows")}, {duration(d.ns)}, {duration(d.own_ns)} {pt("own")}
              </li>
            ))}
            {p.waits.map((w) => (
              <li key={w.name} data-wait={w.name}>
                {pt("waited")}: {w.name}, {w.count} {pt("times")}, {duration(w.ns)}
              </li>
            ))}
            {p.queue.empty >= 0 && (
              <li>
                {p.queue.mean.toFixed(1)} {pt("queue")}; {(100 * p.queue.empty).toFixed(0)} % {pt("queueEmpty")}
              </li>
            )}
          </ul>
        </section>
      </div>
    </div>
  );
}

type Value = string | number;
interface Column<T> {
  name: string;
  value: (r: T) => Value;
  text?: (r: T) => string;
}

// A table that its heads sort; the address holds by which.
export function Table<T>({ id, rows, columns, view, first, filter = "" }: { id: string; rows: T[]; columns: Column<T>[]; view: View; first: string; filter?: string }) {
  const sort = view.get(`${id}sort`, first);
  const up = view.get(`${id}up`) === "1";
  const by = columns.find((c) => c.name === sort) ?? columns[0];
  const shown = rows.filter((r) => !filter || columns.some((c) => String(c.value(r)).toLowerCase().includes(filter.toLowerCase())));
  const sorted = [...shown].sort((a, b) => {
    const [x, y] = [by.value(a), by.value(b)];
    const order = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y));
    return up ? order : -order;
  });
  const exportCsv = () => save(`${id}.csv`, csv([columns.map((c) => c.name), ...sorted.map((r) => columns.map((c) => c.value(r)))]), "text/csv");
  return (
    <>
      <button onClick={exportCsv}>CSV</button>
      <div class="scroll limited" tabindex={0} role="region" aria-label={id}>
        <table id={id}>
          <thead>
            <tr>
              {columns.map((c) => (
                <th key={c.name} scope="col" aria-sort={sort === c.name ? (up ? "ascending" : "descending") : "none"}>
                  <button onClick={() => view.set({ [`${id}sort`]: c.name, [`${id}up`]: sort === c.name && !up ? "1" : "" })}>
                    {c.name}
                    {sort === c.name ? (up ? " ↑" : " ↓") : ""}
                  </button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {sorted.slice(0, 300).map((r, i) => (
              <tr key={i}>
                {columns.map((c) => (
                  <td key={c.name} data-column={c.name} title={c.text ? undefined : String(c.value(r))}>
                    {c.text ? c.text(r) : String(c.value(r))}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

interface Part {
  view: View;
  p: Profile;
  share: (ns: number) => string;
}

function Kernels({ p, view, share }: Part) {
  const rows = p.rows.filter((r) => r.kind === "kernel" || r.kind === "eager");
  const filter = view.get("kernel");
  return (
    <section class="part">
      <h2>
        {pt("kernels")} <small>{rows.length}</small>
      </h2>
      <label>
        <span class="hidden">{pt("kernels")}</span>
        <input id="kernel-filter" type="search" value={filter} onInput={(e) => view.set({ kernel: e.currentTarget.value })} />
      </label>{" "}
      <Table<Row>
        id="kernels"
        rows={rows}
        view={view}
        first={pt("time")}
        filter={filter}
        columns={[
          { name: pt("op"), value: (r) => r.name },
          { name: pt("phase"), value: (r) => partName(r.phase) },
          { name: pt("runs"), value: (r) => r.runs },
          { name: pt("time"), value: (r) => r.ns, text: (r) => duration(r.ns) },
          { name: pt("share"), value: (r) => r.ns / Math.max(1, p.wall), text: (r) => share(r.ns) },
          { name: pt("mean"), value: (r) => r.ns / r.runs, text: (r) => duration(r.ns / r.runs) },
          { name: pt("most"), value: (r) => r.most, text: (r) => duration(r.most) },
          { name: "GFLOP/s", value: (r) => r.gflops, text: (r) => (r.gflops > 0 ? r.gflops.toFixed(1) : "–") },
          { name: "GB/s", value: (r) => r.gbytes, text: (r) => r.gbytes.toFixed(1) },
          { name: pt("limit"), value: (r) => r.of_limit, text: (r) => (r.of_limit > 0 ? `${(100 * r.of_limit).toFixed(0)} % ${r.by_memory ? "mem" : "fma"}` : "–") },
          { name: pt("implementation"), value: (r) => r.implementation },
          { name: pt("where"), value: (r) => (r.lines > 1 ? `${r.where} +${r.lines - 1}` : r.where) },
          { name: pt("types"), value: (r) => r.types },
        ]}
      />
    </section>
  );
}

function Ops({ p, view, share }: Part) {
  const rows = [...p.ops, { name: pt("unattributed"), kind: "", runs: 0, ns: p.unattributed }];
  return (
    <section class="part">
      <h2>
        {pt("ops")} <small>{p.ops.length}</small>
      </h2>
      <Table
        id="ops"
        rows={rows}
        view={view}
        first={pt("time")}
        columns={[
          { name: pt("op"), value: (r) => r.name },
          { name: pt("kind"), value: (r) => r.kind },
          { name: pt("runs"), value: (r) => r.runs },
          { name: pt("time"), value: (r) => r.ns, text: (r) => duration(r.ns) },
          { name: pt("share"), value: (r) => r.ns / Math.max(1, p.wall), text: (r) => share(r.ns) },
        ]}
      />
    </section>
  );
}

function MemoryPart({ p, view }: { p: Profile; view: View }) {
  return (
    <div class="card">
      <MemoryCurve p={p} />
      <h3>
        {pt("alive")}: <output id="peak">{size(p.memory.peak)}</output>
      </h3>
      <Table
        id="alive"
        rows={p.memory.alive}
        view={view}
        first={pt("bytes")}
        columns={[
          { name: pt("op"), value: (r) => r.name },
          { name: pt("bytes"), value: (r) => r.bytes, text: (r) => size(r.bytes) },
          { name: pt("blocks"), value: (r) => r.blocks },
          { name: pt("place"), value: (r) => r.place },
          { name: pt("where"), value: (r) => r.where },
          { name: pt("types"), value: (r) => r.types },
        ]}
      />
    </div>
  );
}
