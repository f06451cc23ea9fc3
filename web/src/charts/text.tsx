// Texts and tensors of a tag.
import { useEffect, useState } from "preact/hooks";
import { ask } from "../api";
import { short } from "../numbers";
import { heat } from "../palette";
import { t } from "../state";
import type { Shown } from "./line";

interface Given {
  tag: string;
  run: Shown;
  version: number;
}

function useAnswer<T>(question: string, args: Record<string, string | number>, version: number): T | null {
  const [found, setFound] = useState<T | null>(null);
  useEffect(() => {
    let old = false;
    ask<T>(question, args).then((a) => !old && setFound(a), () => {});
    return () => {
      old = true;
    };
  }, [question, JSON.stringify(args), version]);
  return found;
}

export function TextCard({ tag, run, version }: Given) {
  const texts = useAnswer<{ step: number; text: string }[]>("texts", { run: run.id, tag, limit: 20 }, version);
  return (
    <section class="card" data-tag={tag}>
      <header>
        <h3>
          {tag} <small>{run.name}</small>
        </h3>
      </header>
      {texts?.map((x) => (
        <div key={x.step}>
          <small>
            {t("step")} {x.step}
          </small>
          <pre>{x.text}</pre>
        </div>
      ))}
    </section>
  );
}

interface Held {
  step: number;
  dtype: string;
  shape: number[];
  min?: number;
  max?: number;
  mean?: number;
  nan?: number;
  inf?: number;
  values?: (number | null)[];
}

export function TensorCard({ tag, run, version }: Given) {
  const held = useAnswer<Held>("tensor", { run: run.id, tag }, version);
  const width = held ? held.shape[held.shape.length - 1] || 1 : 1;
  const [low, high] = [held?.min ?? 0, held?.max ?? 1];
  return (
    <section class="card" data-tag={tag}>
      <header>
        <h3>
          {tag} <small>{run.name}</small>
        </h3>
      </header>
      {held && (
        <>
          <p class="facts">
            {t("step")} {held.step} · {held.dtype} [{held.shape.join(", ")}] · min {short(held.min)} · max {short(held.max)} · mean {short(held.mean)}
            {(held.nan ?? 0) + (held.inf ?? 0) > 0 && <em> NaN {held.nan}, inf {held.inf}</em>}
          </p>
          {held.values && (
            <div class="cells" style={{ gridTemplateColumns: `repeat(${Math.min(width, 64)}, 1fr)` }} role="img" aria-label={t("heat")}>
              {held.values.slice(0, 64 * 16).map((v, i) => (
                <i key={i} title={short(v)} style={{ background: v === null ? "#f0f" : `rgb(${heat((v - low) / (high - low || 1)).join(",")})` }} />
              ))}
            </div>
          )}
        </>
      )}
    </section>
  );
}
