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
}

function StepBox({ step, most }: { step: Step; most: number }) {
  const us = step.made ? step.own_ns / step.made / 1000 : 0;
  const rate = step.ns ? (1e9 * step.made) / step.ns : 0;
  return (
    <li>
      <div class="step" data-op={step.op.split("(")[0]}>
        <strong>{step.op}</strong>
        <span class="facts">
          {step.rows < 0 ? "?" : step.rows} {t("rows")} · <output class="made">{step.made}</output> {t("made")}
          {step.made > 0 && ` · ${rate.toFixed(0)} ${t("rate")} · ${us.toFixed(1)} µs ${t("own")}`} · {t("columns")}: {step.columns.join(", ")}
        </span>
        <span class="share" style={{ width: `${most ? (100 * step.own_ns) / most : 0}%` }} />
      </div>
      {step.inputs.length > 0 && (
        <ul>
          {step.inputs.map((s, i) => (
            <StepBox key={i} step={s} most={most} />
          ))}
        </ul>
      )}
    </li>
  );
}

export function DataPage({ chosen, version }: { chosen: Shown[]; version: number }) {
  const [found, setFound] = useState<{ run: Shown; tag: string; step: Step }[] | null>(null);
  useEffect(() => {
    let old = false;
    const load = async () => {
      const tags = await ask<Tags>("tags");
      const held = (tags.record ?? []).filter((r) => r.tag.startsWith("dataset_graph/"));
      const all = held.flatMap((h) => chosen.filter((c) => h.runs.some(([r]) => r === c.id)).map((run) => ({ run, tag: h.tag })));
      const steps = await Promise.all(all.slice(0, 20).map(async (x) => ({ ...x, step: await ask<Step>("record", { run: x.run.id, tag: x.tag }) })));
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
          <ul class="pipeline">
            <StepBox step={x.step} most={longest(x.step)} />
          </ul>
        </section>
      ))}
    </>
  );
}

function longest(s: Step): number {
  return Math.max(s.own_ns, ...s.inputs.map(longest));
}
