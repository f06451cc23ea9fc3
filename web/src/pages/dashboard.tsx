import { useEffect, useState } from "preact/hooks";
import { ask, type Run, type Tag, type Tags } from "../api";
import { DistributionChart } from "../charts/distribution";
import { ImageCard } from "../charts/image";
import { LineChart, type Shown } from "../charts/line";
import { TextCard, TensorCard } from "../charts/text";
import { type Axis } from "../numbers";
import { t, type View } from "../state";
import { Empty } from "./empty";

const most = 24; // cards a part shows before one asks for more

function Part({ name, title, cards }: { name: string; title: string; cards: preact.JSX.Element[] }) {
  const [shown, setShown] = useState(most);
  if (!cards.length) return null;
  return (
    <section class="part" id={name}>
      <h2>
        {title} <small>{cards.length}</small>
      </h2>
      <div class="cards">{cards.slice(0, shown)}</div>
      {cards.length > shown && <button onClick={() => setShown(shown + most)}>+ {cards.length - shown}</button>}
    </section>
  );
}

export function Dashboard({ view, runs, chosen, version, dark }: { view: View; runs: Run[]; chosen: Shown[]; version: number; dark: boolean }) {
  const [tags, setTags] = useState<Tags | null>(null);
  useEffect(() => {
    let old = false;
    ask<Tags>("tags").then((a) => !old && setTags(a), () => {});
    return () => {
      old = true;
    };
  }, [version]);
  if (!runs.length) return <Empty text={t("noRuns")} code={"from mycel.train import SummaryCollector\n\nmodel.train(10, dataset, callbacks=[SummaryCollector(\"runs/first\")])"} />;
  const axis = view.get("axis", "step") as Axis;
  const weight = view.number("smooth", 0);
  const filter = view.get("tags");
  let matches = (s: string) => s.toLowerCase().includes(filter.toLowerCase());
  try {
    const pattern = new RegExp(filter, "i");
    matches = (s) => pattern.test(s);
  } catch {
    // What is being typed may not be a pattern yet.
  }
  const of = (list: Tag[] | undefined) => (list ?? []).filter((g) => matches(g.tag) && g.runs.some(([r]) => chosen.some((c) => c.id === r)));
  const holding = (g: Tag) => chosen.filter((c) => g.runs.some(([r]) => r === c.id));
  const pairs = (list: Tag[] | undefined) => of(list).flatMap((g) => holding(g).map((run) => ({ tag: g.tag, run })));
  const parts = tags && [
    <Part
      key="scalars"
      name="scalars"
      title={t("scalars")}
      cards={of(tags.scalar).map((g) => (
        <LineChart key={g.tag} tag={g.tag} runs={holding(g)} axis={axis} log={view.get("log") === "1"} weight={weight} outliers={view.get("outliers") === "1"} version={version} dark={dark} />
      ))}
    />,
    <Part key="images" name="images" title={t("images")} cards={pairs(tags.image).map((x) => <ImageCard key={`${x.tag} ${x.run.id}`} {...x} version={version} />)} />,
    <Part
      key="histograms"
      name="histograms"
      title={t("histograms")}
      cards={pairs(tags.histogram).map((x) => (
        <DistributionChart key={`${x.tag} ${x.run.id}`} {...x} form={view.get("form", "ridges")} version={version} dark={dark} />
      ))}
    />,
    <Part key="tensors" name="tensors" title={t("tensors")} cards={pairs(tags.tensor).map((x) => <TensorCard key={`${x.tag} ${x.run.id}`} {...x} version={version} />)} />,
    <Part key="texts" name="texts" title={t("texts")} cards={pairs(tags.text).map((x) => <TextCard key={`${x.tag} ${x.run.id}`} {...x} version={version} />)} />,
  ];
  const empty = tags && ![tags.scalar, tags.image, tags.histogram, tags.tensor, tags.text].some((l) => of(l).length);
  return (
    <>
      <form class="controls" onSubmit={(e) => e.preventDefault()}>
        <label>
          {t("filterTags")} <input id="filter-tags" type="search" value={filter} onInput={(e) => view.set({ tags: e.currentTarget.value })} />
        </label>
        <label>
          {t("smoothing")} <output>{weight}</output>
          <input id="smoothing" aria-label={t("smoothing")} type="range" min={0} max={0.99} step={0.01} value={weight} onInput={(e) => view.set({ smooth: e.currentTarget.value })} />
        </label>
        <label>
          {t("axis")}
          <select id="axis" value={axis} onChange={(e) => view.set({ axis: e.currentTarget.value })}>
            {(["step", "relative", "time"] as const).map((a) => (
              <option key={a} value={a}>
                {t(a)}
              </option>
            ))}
          </select>
        </label>
        <label>
          <input id="log" type="checkbox" checked={view.get("log") === "1"} onChange={(e) => view.set({ log: e.currentTarget.checked ? "1" : "" })} /> {t("log")}
        </label>
        <label>
          <input id="outliers" type="checkbox" checked={view.get("outliers") === "1"} onChange={(e) => view.set({ outliers: e.currentTarget.checked ? "1" : "" })} /> {t("outliers")}
        </label>
        <label>
          {t("histograms")}
          <select id="form" value={view.get("form", "ridges")} onChange={(e) => view.set({ form: e.currentTarget.value })}>
            <option value="ridges">{t("ridges")}</option>
            <option value="heat">{t("heat")}</option>
          </select>
        </label>
      </form>
      {parts}
      {empty && <p class="empty">{t("nothing")}</p>}
    </>
  );
}
