// The debugger: watchpoints and hits, the tensors of a step, one of them; and, while the run goes on,
// the controls that make it stop and go.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { ask, type Tags } from "../api";
import type { Shown } from "../charts/line";
import { command, type Condition, type Hit, type State, type Watchpoint } from "../debugger/api";
import { TensorView } from "../debugger/tensor";
import { TensorTree } from "../debugger/tree";
import { Hits, WatchForm, WatchList } from "../debugger/watch";
import { w } from "../debugger/words";
import { t, type View } from "../state";
import { Empty } from "./empty";

const often = 400; // milliseconds between looks at a run that goes on
const script = `from mycel.insight import Debugger

debugger = Debugger("runs/first", watchpoints=["operator_overflow", "gradient_vanishing"])
model.train(10, dataset, callbacks=[debugger])`;
const dumpScript = `from mycel.insight import Debugger, dump_plan

Debugger("runs/first", dump=dump_plan("1-3"))`;

// The chosen runs that were debugged.
function useDebugged(chosen: Shown[], version: number): Shown[] | null {
  const [found, setFound] = useState<Set<number> | null>(null);
  useEffect(() => {
    let old = false;
    ask<Tags>("tags").then(
      (tags) => !old && setFound(new Set((tags.record ?? []).filter((r) => r.tag === "debug/session").flatMap((r) => r.runs.map(([run]) => run)))),
      () => {},
    );
    return () => {
      old = true;
    };
  }, [version]);
  return found && chosen.filter((c) => found.has(c.id));
}

function useRunState(run: number | undefined, version: number): [State | null, () => void] {
  const [state, setState] = useState<State | null>(null);
  const [turn, setTurn] = useState(0);
  const live = state?.live ?? false;
  useEffect(() => {
    if (run === undefined) return;
    let old = false;
    let timer = 0;
    const look = () =>
      ask<State>("debug", { run }).then(
        (s) => {
          if (old) return;
          setState((was) => (was && was.live && s.live && was.version === s.version && was.steps.join() === s.steps.join() ? was : s));
          if (s.live) timer = setTimeout(look, often);
        },
        () => {
          if (!old && live) timer = setTimeout(look, often * 4);
        },
      );
    look();
    return () => {
      old = true;
      clearTimeout(timer);
    };
  }, [run, version, turn]);
  return [run === undefined ? null : state, () => setTurn((n) => n + 1)];
}

function Controls({ run, state, again, tell }: { run: number; state: State; again: () => void; tell: (e: string) => void }) {
  const [until, setUntil] = useState("");
  const box = useRef({ until });
  box.current.until = until;
  const go = (body: Record<string, unknown>) => command({ run, ...body }).then(again, (e: Error) => tell(e.message));
  const actions: Record<string, () => void> = {
    c: () => go({ ask: "go", how: "on" }),
    s: () => go({ ask: "go", how: "step", steps: 1 }),
    n: () => go({ ask: "go", how: "node", until: box.current.until.trim() }),
    p: () => go({ ask: "pause" }),
  };
  useLayoutEffect(() => {
    const keys = (e: KeyboardEvent) => {
      const at = e.target as HTMLElement;
      if (e.ctrlKey || e.metaKey || e.altKey || ["INPUT", "SELECT", "TEXTAREA"].includes(at.tagName)) return;
      actions[e.key]?.();
    };
    addEventListener("keydown", keys);
    return () => removeEventListener("keydown", keys);
  });
  const why = state.why?.startsWith("hit") ? "why_hit" : (`why_${state.why}` as "why_step");
  return (
    <div class="controls" id="controls" role="toolbar" aria-label={w("stepIteration")}>
      <strong id="run-state" role="status">
        {state.paused ? `${w("waits")}: ${t("step")} ${state.step}, ${w(why)}` : `${w("live")}: ${t("step")} ${state.step}`}
      </strong>
      <button id="go-on" onClick={actions.c} disabled={!state.paused}>
        ▶ {w("goOn")}
      </button>
      <button id="go-step" onClick={actions.s}>
        ⏭ {w("stepIteration")}
      </button>
      <button id="go-node" onClick={actions.n}>
        ↷ {w("stepNode")}
      </button>
      <label>
        {w("until")} <input id="until" value={until} onInput={(e) => setUntil(e.currentTarget.value)} />
      </label>
      <button id="pause" onClick={actions.p} disabled={state.paused}>
        ⏸ {w("pause")}
      </button>
      <small>{w("keys")}</small>
    </div>
  );
}

export function DebuggerPage({ view, chosen, version }: { view: View; chosen: Shown[]; version: number }) {
  const debugged = useDebugged(chosen, version);
  const run = debugged?.find((r) => r.name === view.get("run")) ?? debugged?.[0];
  const [state, again] = useRunState(run?.id, version);
  const [conditions, setConditions] = useState<Condition[]>([]);
  const [own, setOwn] = useState<Watchpoint[] | null>(null); // of a run that has ended: checked on its dump
  const [checked, setChecked] = useState<Hit[] | null>(null);
  const [form, setForm] = useState<{ start: Watchpoint | null } | null>(null);
  const [error, setError] = useState("");
  useEffect(() => {
    ask<Condition[]>("conditions").then(setConditions, () => {});
  }, []);
  useEffect(() => {
    setOwn(null);
    setChecked(null);
  }, [run?.id]);
  useLayoutEffect(() => {
    const keys = (e: KeyboardEvent) => {
      if (e.key === "w" && !e.ctrlKey && !e.metaKey && !["INPUT", "SELECT", "TEXTAREA"].includes((e.target as HTMLElement).tagName)) {
        e.preventDefault();
        setForm({ start: null });
      }
    };
    addEventListener("keydown", keys);
    return () => removeEventListener("keydown", keys);
  }, []);
  if (debugged && !run) return <Empty text={w("none")} code={script} />;
  if (!run || !state) return null;
  const live = state.live;
  const list = live ? state.watchpoints : (own ?? state.watchpoints);
  const told = (e: Error) => setError(e.message);
  const put = (p: Partial<Watchpoint>) => {
    setError("");
    if (live) command({ run: run.id, ask: "watch", watchpoint: p }).then(() => (setForm(null), again()), told);
    else {
      const id = p.id ?? Math.max(0, ...list.map((x) => x.id)) + 1;
      const next = { on: true, pauses: true, scopes: [], parameters: {}, condition: "", ...p, id } as Watchpoint;
      setOwn(p.id ? list.map((x) => (x.id === id ? next : x)) : [...list, next]);
      setForm(null);
    }
  };
  const remove = (p: Watchpoint) => {
    if (live) command({ run: run.id, ask: "unwatch", id: p.id }).then(again, told);
    else setOwn(list.filter((x) => x.id !== p.id));
  };
  const check = () => {
    setError("");
    command<{ hits: Hit[] }>({ run: run.id, ask: "check", watchpoints: list }).then((a) => setChecked(a.hits), told);
  };
  const steps = state.steps;
  const wanted = view.number("step", NaN);
  const step = steps.includes(wanted) ? wanted : steps[steps.length - 1];
  const name = view.get("tensor");
  const choose = (tensor: string) => view.set({ tensor, slice: "", row: "", column: "" });
  const tick = live ? (state.version ?? 0) : version;
  const hits = checked ?? state.hits;
  return (
    <div class="debugger" data-run={run.name}>
      <p class="controls">
        {debugged!.length > 1 && (
          <select id="debugged" aria-label={t("run")} value={run.name} onChange={(e) => view.set({ run: e.currentTarget.value, step: "", tensor: "" })}>
            {debugged!.map((r) => (
              <option key={r.id}>{r.name}</option>
            ))}
          </select>
        )}
        {steps.length > 0 && (
          <label>
            {w("steps")}{" "}
            <select id="debug-step" value={step} onChange={(e) => view.set({ step: e.currentTarget.value })}>
              {steps.map((s) => (
                <option key={s}>{s}</option>
              ))}
            </select>
          </label>
        )}
        {!live && <span id="run-state">{w("ended")}</span>}
      </p>
      {live && <Controls run={run.id} state={state} again={again} tell={setError} />}
      {!live && !state.dumped && <Empty text={`${run.name} ${w("notDumped")}`} code={dumpScript} />}
      {error && (
        <p class="error" role="alert">
          {error}
        </p>
      )}
      <div class="debug-parts">
        <aside>
          <section class="card">
            <header>
              <h2>{w("watchpoints")}</h2>
              <span class="tools">
                <button id="add-watchpoint" onClick={() => setForm({ start: null })}>
                  {w("add")}
                </button>
                {!live && state.dumped && (
                  <button id="check-dump" onClick={check}>
                    {w("check")}
                  </button>
                )}
              </span>
            </header>
            <WatchList list={list} conditions={conditions} change={put} edit={(p) => setForm({ start: p })} remove={remove} />
            {form && conditions.length > 0 && <WatchForm key={form.start?.id ?? "new"} conditions={conditions} start={form.start} done={put} cancel={() => setForm(null)} />}
          </section>
          <section class="card">
            <h2>
              {w("hits")} <small id="hit-count">{checked ? checked.length : (state.hit_count ?? state.hits.length)}</small>
            </h2>
            <Hits hits={hits} chosen={name} open={(h) => view.set({ tensor: h.name, step: steps.includes(h.step) ? h.step : "", slice: "", row: "", column: "" })} />
          </section>
        </aside>
        {step !== undefined && (
          <section class="card tensors" aria-label={w("tensors")}>
            <h2>{w("tensors")}</h2>
            <TensorTree run={run.id} step={step} version={tick} chosen={name} choose={choose} text={view.get("text")} role={view.get("role")} set={(c) => view.set(c)} />
          </section>
        )}
        <div class="one">{name && step !== undefined ? <TensorView run={run.id} step={step} name={name} version={tick} view={view} choose={choose} /> : <p class="hint">{w("choose")}</p>}</div>
      </div>
    </div>
  );
}
