// Pictures of a tag with a slider over steps.
import { useEffect, useState } from "preact/hooks";
import { address, ask, type Item } from "../api";
import { t } from "../state";
import type { Shown } from "./line";

export function ImageCard({ tag, run, version }: { tag: string; run: Shown; version: number }) {
  const [items, setItems] = useState<Item[]>([]);
  const [at, setAt] = useState(-1); // -1: the newest
  useEffect(() => {
    let old = false;
    ask<Item[]>("items", { kind: "image", run: run.id, tag })
      .then((f) => !old && setItems(f))
      .catch(() => !old && setItems([]));
    return () => {
      old = true;
    };
  }, [tag, run.id, version]);
  const place = at < 0 ? items.length - 1 : Math.min(at, items.length - 1);
  const item = items[place];
  return (
    <section class="card" data-tag={tag} aria-label={`${tag}, ${run.name}`}>
      <header>
        <h3>
          {tag} <small>{run.name}</small>
        </h3>
      </header>
      {item && (
        <>
          <img src={address("image", { run: run.id, tag, number: item.number })} alt={`${tag}, ${t("step")} ${item.step}`} />
          <label class="slider">
            {t("step")} <output>{item.step}</output>
            <input type="range" aria-label={`${tag}, ${t("step")}`} min={0} max={items.length - 1} value={place} onInput={(e) => setAt(Number(e.currentTarget.value))} />
          </label>
        </>
      )}
    </section>
  );
}
