import { useEffect, useState } from "preact/hooks";
import { ask, type Tags } from "../api";
import type { Shown } from "../charts/line";
import { t } from "../state";
import { Empty } from "./empty";

interface Step {
  op: string;
  rows: number;
  made: number;
  ns: number;
  own_ns: number;
  columns: string[];
  inputs: Step[];
  at?: number;
  queue?: { threads: number; ahead: number; most: number; bytes: number; rows: number; waits: number; wait_ns: number };
}

// A state and the one before it; `seconds` lie between them.
function StepBox({ step, before, seconds, most }: { step: Step; before?: Step; seconds: number; most: number }) {
  const us = step.made ? step.own_ns / step.made / 1000 : 0;
  const rate = before && seconds > 0 ? (step.made - before.made) / seconds : step.ns ? (1e9 * step.made) / step.ns : 0;
  return (
    <li>
      <div class="step" data-op={step.op.split("(")[0]}>
        <strong>{step.op}</strong>
        <span class="facts">
          {step.rows < 0 ? "?" : step.rows} {t("rows")} · <output class="made">{step.made}</output> {t("made")}
          {step.made > 0 && ` · ${rate.toFixed(rate < 10 ? 1 : 0)} ${t("rate")} · ${us.toFixed(1)} µs ${t("own")}`} · {t("columns")}: {step.columns.join(", ")}
        </span>
        <span class="share" style={{ width: `${most ? (100 * step.own_ns) / most : 0}%` }} />
      </div>
      {step.inputs.length > 0 && (
        <ul>
          {step.inputs.map((s, i) => (
            <StepBox key={i} step={s} before={before?.inputs[i]} seconds={seconds} most={most} />
          ))}
        </ul>
      )}
    </li>
  );
}

function QueueBox({ q }: { q: NonNullable<Step["queue"]> }) {
  return (
    <p class="queue">
      <meter value={q.ahead} min={0} max={q.most} aria-label={t("queue")} />{" "}
      {t("queue")}: <output>{q.ahead}</output> / {q.most} · {(q.bytes / 1e6).toFixed(1)} MB · {q.threads} {t("threads")} · {t("waited")} {q.waits} / {q.rows}, {(q.wait_ns / 1e9).toFixed(2)} s
    </p>
  );
}

export function DataPage({ chosen, version }: { chosen: Shown[]; version: number }) {
  const [found, setFound] = useState<{ run: Shown; tag: string; step: Step; before?: Step }[] | null>(null);
  useEffect(() => {
    let old = false;
    const load = async () => {
      const tags = await ask<Tags>("tags");
      const held = (tags.record ?? []).filter((r) => r.tag.startsWith("dataset_graph/"));
      const all = held.flatMap((h) => chosen.flatMap((run) => h.runs.filter(([r]) => r === run.id).map(([, count]) => ({ run, tag: h.tag, count }))));
      const steps = await Promise.all(
        all.slice(0, 20).map(async (x) => {
          const at = (number: number) => ask<Step>("record", { run: x.run.id, tag: x.tag, number });
          return { ...x, step: await at(x.count - 1), before: x.count > 1 ? await at(x.count - 2) : undefined };
        }),
      );
      if (!old) setFound(steps);
    };
    load().catch(() => {});
    return () => {
      old = true;
    };
  }, [version, chosen.map((c) => c.id).join()]);
  if (found && !found.length) return <Empty text={t("noPipeline")} code={"model.train(10, dataset, callbacks=[SummaryCollector(\"runs/first\")])"} />;
  return (
    <>
      {found?.map((x) => (
        <section class="part" key={`${x.run.id} ${x.tag}`} data-run={x.run.name}>
          <h2>
            {x.run.name} <small>{x.tag.slice(14)}</small>
          </h2>
          {x.step.queue && <QueueBox q={x.step.queue} />}
          <ul class="pipeline">
            <StepBox step={x.step} before={x.before} seconds={(x.step.at ?? 0) - (x.before?.at ?? 0)} most={longest(x.step)} />
          </ul>
        </section>
      ))}
    </>
  );
}

function longest(s: Step): number {
  return Math.max(s.own_ns, ...s.inputs.map(longest));
}
