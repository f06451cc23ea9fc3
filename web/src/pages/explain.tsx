// Why a classifier decides as it does: saliency maps over images, counterfactuals, scores of methods.
import { useEffect, useState } from "preact/hooks";
import { address, ask, type Tags } from "../api";
import type { Shown } from "../charts/line";
import { Overlay } from "../explain/overlay";
import { x } from "../explain/words";
import { short } from "../numbers";
import { t, type View } from "../state";
import { Empty } from "./empty";

interface Sample {
  sample: number;
  label: number;
  predicted: number;
  probabilities: number[];
  image: number;
  maps: { method: string; class: number; map: number; low: number; high: number }[];
}
interface Counterfactual {
  sample: number;
  class: number;
  method: string;
  steps: { image: number; probability: number }[];
}
interface Found {
  labels: string[];
  methods: string[];
  scores: { method: string; metric: string; class: number; value: number }[];
  count: number;
  right: number;
  fitting: number;
  samples: Sample[];
  counterfactuals: Counterfactual[];
  with_counterfactuals: number[];
}

const page = 12;
const script = `from mycel.insight import ExplainRecord

with ExplainRecord("runs/explained", labels) as record:
    record.sample(image, label, probabilities, {"Gradient": {predicted: saliency_map}})
    record.score("Gradient", "Faithfulness", 0.71)`;

function Card({ run, s, labels, method, opacity, open }: { run: number; s: Sample; labels: string[]; method: string; opacity: number; open: () => void }) {
  const classes = [...new Set(s.maps.filter((m) => m.method === method).map((m) => m.class))];
  const [cls, setCls] = useState(classes.includes(s.predicted) ? s.predicted : classes[0]);
  const map = s.maps.find((m) => m.method === method && m.class === cls);
  const top = s.probabilities
    .map((p, i) => [p, i] as const)
    .sort((a, b) => b[0] - a[0])
    .slice(0, 3);
  const name = (i: number) => labels[i] ?? String(i);
  return (
    <section class="card sample" data-sample={s.sample} aria-label={`${x("samples")} ${s.sample}`}>
      <header>
        <h3>
          {s.sample} {s.label >= 0 && <small>{`${x("truth")} ${name(s.label)}`}</small>}
        </h3>
        {s.label >= 0 && s.predicted >= 0 && (s.label === s.predicted ? <span class="facts">✓</span> : <em>✗ {name(s.predicted)}</em>)}
      </header>
      <Overlay run={run} image={s.image} map={map ? map.map : null} opacity={opacity} label={`${x("samples")} ${s.sample}, ${method} ${cls === undefined ? "" : name(cls)}`} />
      {map && (
        <p class="facts">
          {short(map.low)} … {short(map.high)}
        </p>
      )}
      <ul class="bars">
        {top.map(([p, i]) => (
          <li key={i} data-class={i}>
            <button aria-pressed={cls === i} disabled={!classes.includes(i)} onClick={() => setCls(i)}>
              {name(i)}
            </button>
            <span class="bar" style={{ width: `${Math.round(55 * p)}%`, background: "#0072b2" }} />
            <output>{short(p)}</output>
          </li>
        ))}
      </ul>
      <button onClick={open}>{x("counterfactuals")}</button>
    </section>
  );
}

function Steps({ run, c, labels }: { run: number; c: Counterfactual; labels: string[] }) {
  return (
    <section class="card counterfactual" data-sample={c.sample} data-class={c.class}>
      <h3>
        {c.method} <small>{`${x("masked")} ${labels[c.class] ?? c.class}`}</small>
      </h3>
      <ol class="steps">
        {c.steps.map((s, i) => (
          <li key={i}>
            <img src={address("image", { run, tag: "explain/masked", number: s.image })} alt={`${t("step")} ${i}`} />
            <span class="bar" style={{ width: `${Math.round(100 * s.probability)}%`, background: "#0072b2" }} />
            <output>{short(s.probability)}</output>
          </li>
        ))}
      </ol>
    </section>
  );
}

function Scores({ found }: { found: Found }) {
  const metrics = [...new Set(found.scores.map((s) => s.metric))];
  const methods = [...new Set(found.scores.map((s) => s.method))];
  const value = (method: string, metric: string, cls: number) => found.scores.find((s) => s.method === method && s.metric === metric && s.class === cls)?.value;
  const classes = [-1, ...found.labels.map((_, i) => i)].filter((i) => found.scores.some((s) => s.class === i));
  return (
    <>
      {classes.map((cls) => (
        <section class="part" key={cls}>
          <h3>{cls < 0 ? x("overall") : found.labels[cls]}</h3>
          <table class="scores" data-class={cls}>
            <thead>
              <tr>
                <th>{x("method")}</th>
                {metrics.map((m) => (
                  <th key={m}>{m}</th>
                ))}
              </tr>
            </thead>
            <tbody>
              {methods.map((method) => (
                <tr key={method} data-method={method}>
                  <th scope="row">{method}</th>
                  {metrics.map((metric) => {
                    const v = value(method, metric, cls);
                    const best = v !== undefined && methods.every((o) => (value(o, metric, cls) ?? -Infinity) <= v);
                    return (
                      <td key={metric} data-metric={metric}>
                        {best ? <strong title={x("best")}>{short(v)} ★</strong> : short(v)}
                      </td>
                    );
                  })}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      ))}
    </>
  );
}

export function ExplainPage({ view, chosen, version }: { view: View; chosen: Shown[]; version: number }) {
  const [runs, setRuns] = useState<Shown[] | null>(null);
  const [found, setFound] = useState<Found | null>(null);
  const ids = chosen.map((r) => r.id).join();
  useEffect(() => {
    let old = false;
    ask<Tags>("tags").then(
      (tags) => {
        const held = new Set((tags.record ?? []).filter((r) => r.tag === "explain/labels").flatMap((r) => r.runs.map(([run]) => run)));
        if (!old) setRuns(chosen.filter((r) => held.has(r.id)));
      },
      () => {},
    );
    return () => {
      old = true;
    };
  }, [version, ids]);
  const run = runs?.find((r) => r.name === view.get("run")) ?? runs?.[0];
  const part = view.get("part", "saliency");
  const [label, predicted, which] = [view.get("label"), view.get("predicted"), view.get("which")];
  const from = view.number("from", 0);
  const sample = view.get("sample");
  useEffect(() => {
    if (!run) return;
    let old = false;
    const args: Record<string, string | number> = { run: run.id, from, limit: page };
    if (part === "counterfactuals") Object.assign(args, { from: 0, sample: sample || -2, limit: 1 });
    else {
      if (label) args.label = label;
      if (predicted) args.predicted = predicted;
      if (which) args.which = which;
    }
    ask<Found>("explain", args).then((a) => !old && setFound(a), () => {});
    return () => {
      old = true;
    };
  }, [run?.id, version, part, label, predicted, which, from, sample]);
  if (runs && !run) return <Empty text={x("none")} code={script} />;
  if (!run || !found) return null;
  const method = found.methods.includes(view.get("method")) ? view.get("method") : (found.methods[0] ?? "");
  const opacity = view.number("overlay", 0.7);
  const classChooser = (key: string, word: string, value: string) => (
    <label>
      {word}
      <select id={key} value={value} onChange={(e) => view.set({ [key]: e.currentTarget.value, from: "" })}>
        <option value="">{x("any")}</option>
        {found.labels.map((l, i) => (
          <option key={i} value={i}>
            {l}
          </option>
        ))}
      </select>
    </label>
  );
  return (
    <div class="explain" data-run={run.name}>
      <p class="controls">
        {runs!.length > 1 && (
          <select aria-label={t("run")} value={run.name} onChange={(e) => view.set({ run: e.currentTarget.value })}>
            {runs!.map((r) => (
              <option key={r.id}>{r.name}</option>
            ))}
          </select>
        )}
        {(["saliency", "counterfactuals", "scores"] as const).map((p) => (
          <button key={p} id={`part-${p}`} aria-pressed={part === p} onClick={() => view.set({ part: p })}>
            {x(p)}
          </button>
        ))}
        <span>
          <output id="samples">{found.count}</output> {x("samples")}, <output id="right">{found.right}</output> {x("accuracy")}
        </span>
      </p>
      {part === "saliency" && (
        <>
          <form class="controls" onSubmit={(e) => e.preventDefault()}>
            <label>
              {x("method")}
              <select id="method" value={method} onChange={(e) => view.set({ method: e.currentTarget.value })}>
                {found.methods.map((m) => (
                  <option key={m}>{m}</option>
                ))}
              </select>
            </label>
            {classChooser("label", x("label"), label)}
            {classChooser("predicted", x("predicted"), predicted)}
            <label>
              {x("which")}
              <select id="which" value={which} onChange={(e) => view.set({ which: e.currentTarget.value, from: "" })}>
                <option value="">{x("all")}</option>
                {(["right", "wrong", "unsure"] as const).map((k) => (
                  <option key={k} value={k}>
                    {x(k)}
                  </option>
                ))}
              </select>
            </label>
            <label>
              {x("opacity")}
              <input id="overlay" type="range" min={0} max={1} step={0.05} value={opacity} onInput={(e) => view.set({ overlay: e.currentTarget.value })} />
            </label>
            <span>
              <button type="button" disabled={from === 0} onClick={() => view.set({ from: Math.max(0, from - page) || "" })}>
                {x("back")}
              </button>{" "}
              {found.fitting ? `${from + 1}–${Math.min(found.fitting, from + page)} / ` : ""}
              <output id="fitting">{found.fitting}</output>{" "}
              <button type="button" id="next" disabled={from + page >= found.fitting} onClick={() => view.set({ from: from + page })}>
                {x("more")}
              </button>
            </span>
          </form>
          {!found.samples.length && <p class="empty">{x("noneHere")}</p>}
          <div class="cards small-cards">
            {found.samples.map((s) => (
              <Card key={`${s.sample} ${method}`} run={run.id} s={s} labels={found.labels} method={method} opacity={opacity} open={() => view.set({ part: "counterfactuals", sample: s.sample })} />
            ))}
          </div>
        </>
      )}
      {part === "counterfactuals" && (
        <>
          <label class="controls">
            {x("chooseSample")}
            <select id="sample" value={sample} onChange={(e) => view.set({ sample: e.currentTarget.value })}>
              <option value="">–</option>
              {[...new Set(found.with_counterfactuals)].map((n) => (
                <option key={n}>{n}</option>
              ))}
            </select>
          </label>
          {found.counterfactuals.map((c, i) => (
            <Steps key={i} run={run.id} c={c} labels={found.labels} />
          ))}
        </>
      )}
      {part === "scores" && <Scores found={found} />}
    </div>
  );
}
