// The switch between a graph as it was recorded and what each pass of the compiler made of it.
import { useEffect, useState } from "preact/hooks";
import { ask } from "../api";
import type { RecordedGraph } from "../outline";
import { changes, type Pass } from "../passes";
import { t, type View } from "../state";

// The passes of a graph, or null where none are recorded.
export function usePasses(run: number | undefined, tag: string | undefined, recorded: boolean): Pass[] | null {
  const [passes, setPasses] = useState<Pass[] | null>(null);
  useEffect(() => {
    let old = false;
    setPasses(null);
    if (run !== undefined && tag && recorded) ask<Pass[]>("record", { run, tag: tag.replace(/^graph\//, "graph_passes/") }).then((p) => !old && setPasses(p), () => {});
    return () => {
      old = true;
    };
  }, [run, tag, recorded]);
  return passes;
}

// The graph that the address asks for: of a pass that kept its graph, else as recorded.
export function graphOfPass(view: View, passes: Pass[] | null, recorded: RecordedGraph | null): RecordedGraph | null {
  const at = view.number("pass", -1);
  return passes?.[at]?.graph ?? recorded;
}

export function PassChooser({ view, passes }: { view: View; passes: Pass[] }) {
  const at = view.number("pass", -1);
  const before = at > 0 ? passes[at - 1] : null;
  const now = passes[at];
  const differing = now ? changes((before ?? passes[0]).ops, now.ops) : [];
  return (
    <>
      <label>
        {t("pass")}{" "}
        <select id="pass" value={String(at)} onChange={(e) => view.set({ pass: e.currentTarget.value === "-1" ? "" : e.currentTarget.value, at: "", node: "", region: "" })}>
          <option value="-1">{t("asRecorded")}</option>
          {passes.map((p, i) => (
            <option key={i} value={String(i)}>
              {i}. {p.name} ({p.nodes}){p.graph ? "" : " –"}
            </option>
          ))}
        </select>
      </label>
      {now && (
        <details id="pass-changes">
          <summary>
            {t("changed")}: {differing.length}
          </summary>
          <ul>
            {differing.map(([op, a, b]) => (
              <li key={op} data-op={op}>
                {op}: {a} → {b}
              </li>
            ))}
          </ul>
        </details>
      )}
      {now && !now.graph && <span class="facts">{t("countsOnly")}</span>}
    </>
  );
}
