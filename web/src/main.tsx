import { render } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import "uplot/dist/uPlot.min.css";
import "./style.css";
import "./style_debug.css";
import { ask, follow, type Problem, type Run } from "./api";
import type { Shown } from "./charts/line";
import { colourOf } from "./palette";
import { Dashboard } from "./pages/dashboard";
import { ClusterPage } from "./pages/cluster";
import { DataPage } from "./pages/data";
import { DebuggerPage } from "./pages/debugger";
import { ExplainPage } from "./pages/explain";
import { GraphPage } from "./pages/graph";
import { LineagePage } from "./pages/lineage";
import { ProfilerPage } from "./pages/profiler";
import { go, pages, speak, startDark, startLanguage, store, t, useView, type Page } from "./state";

const mostChosen = 10; // runs that a page shows before anybody has chosen

function App() {
  const view = useView();
  const [language, setLanguage] = useState(startLanguage);
  const [dark, setDark] = useState(startDark);
  const [runs, setRuns] = useState<Run[] | null>(null);
  const [version, setVersion] = useState(0);
  const [away, setAway] = useState(false);
  const [problems, setProblems] = useState<Problem[]>([]);
  const [help, setHelp] = useState(false);
  const filterBox = useRef<HTMLInputElement>(null);
  speak(language);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  document.title = `${t(view.page)} · ${t("title")}`;

  useEffect(() => follow(setVersion, setAway), []);
  useEffect(() => {
    if (!version) return;
    ask<Run[]>("runs").then(setRuns, () => {});
    ask<Problem[]>("problems").then(setProblems, () => {});
  }, [version]);

  const turnDark = () => {
    store("dark", dark ? "0" : "1");
    setDark(!dark);
  };
  const turnLanguage = () => {
    const next = language === "en" ? "zh" : "en";
    store("language", next);
    setLanguage(next);
  };
  useEffect(() => {
    const keys = (e: KeyboardEvent) => {
      if (e.key === "Escape") {
        setHelp(false);
        (document.activeElement as HTMLElement | null)?.blur();
      }
      const at = e.target as HTMLElement;
      if (e.ctrlKey || e.metaKey || e.altKey || ["INPUT", "SELECT", "TEXTAREA"].includes(at.tagName)) return;
      if (e.key >= "1" && e.key <= String(pages.length)) go(pages[Number(e.key) - 1]);
      else if (e.key === "/") {
        e.preventDefault();
        filterBox.current?.focus();
      } else if (e.key === "d") turnDark();
      else if (e.key === "l") turnLanguage();
      else if (e.key === "?") setHelp(!help);
    };
    addEventListener("keydown", keys);
    return () => removeEventListener("keydown", keys);
  });

  // "runs" in the address: the names that are chosen; without it the newest ones.
  const given = view.get("runs");
  const chosen = useMemo<Shown[]>(() => {
    const all = runs ?? [];
    const newest = [...all].sort((a, b) => b.last - a.last).slice(0, mostChosen);
    const names = given === "-" ? new Set<string>() : given ? new Set(given.split("|")) : new Set(newest.map((r) => r.name));
    return all.map((r, i) => ({ id: r.id, name: r.name, colour: i })).filter((r) => names.has(r.name));
  }, [runs, given]);
  const choose = (names: string[]) => view.set({ runs: names.length ? names.join("|") : "-" });
  const filter = view.get("filter");
  const listed = (runs ?? []).map((r, i) => ({ ...r, colour: i })).filter((r) => r.name.toLowerCase().includes(filter.toLowerCase()));

  return (
    <>
      <header class="top">
        <h1>{t("title")}</h1>
        <nav aria-label={t("title")}>
          {pages.map((p: Page, i) => (
            <a key={p} href={`#/${p}`} aria-current={view.page === p ? "page" : undefined} title={String(i + 1)} onClick={(e) => (e.preventDefault(), go(p))}>
              {t(p)}
            </a>
          ))}
        </nav>
        <span class="tools">
          <button onClick={turnLanguage} aria-label="English / 中文">
            {language === "en" ? "中文" : "English"}
          </button>
          <button onClick={turnDark}>{dark ? t("light") : t("dark")}</button>
          <button onClick={() => setHelp(!help)} aria-label={t("keys")}>
            ?
          </button>
        </span>
      </header>
      {help && (
        <div class="notice" role="dialog" aria-label={t("keys")}>
          {t("keysText")} <button onClick={() => setHelp(false)}>{t("close")}</button>
        </div>
      )}
      {away && (
        <p class="notice" role="status">
          {t("away")}
        </p>
      )}
      {problems.length > 0 && (
        <details class="notice" id="problems">
          <summary>
            {t("problems")}: {problems.length}
          </summary>
          <ul>
            {problems.map((p) => (
              <li key={p.file}>
                {p.file}: {p.text}
              </li>
            ))}
          </ul>
        </details>
      )}
      <div class="body">
        {runs && runs.length > 0 && (
          <aside class="runs">
            <h2>
              {t("runs")} <small>{runs.length}</small>
            </h2>
            <label>
              <span class="hidden">{t("filter")}</span>
              <input id="filter" ref={filterBox} type="search" placeholder={t("filter")} value={filter} onInput={(e) => view.set({ filter: e.currentTarget.value })} />
            </label>
            <p>
              <button onClick={() => choose([...new Set([...chosen.map((c) => c.name), ...listed.map((r) => r.name)])])}>{t("all")}</button>{" "}
              <button onClick={() => choose(chosen.map((c) => c.name).filter((n) => !listed.some((r) => r.name === n)))}>{t("none")}</button>
            </p>
            <ul>
              {listed.slice(0, 500).map((r) => {
                const on = chosen.some((c) => c.id === r.id);
                return (
                  <li key={r.id}>
                    <label title={`${r.name}, ${t("step")} ${r.step}`}>
                      <input
                        type="checkbox"
                        checked={on}
                        onChange={() => choose(on ? chosen.filter((c) => c.id !== r.id).map((c) => c.name) : [...chosen.map((c) => c.name), r.name])}
                      />
                      <i style={{ background: colourOf(r.colour) }} /> {r.name}
                    </label>
                  </li>
                );
              })}
            </ul>
          </aside>
        )}
        <main>
          {runs === null ? null : view.page === "profiler" ? (
            <ProfilerPage view={view} chosen={chosen} version={version} dark={dark} />
          ) : view.page === "dashboard" || !runs.length ? (
            <Dashboard view={view} runs={runs} chosen={chosen} version={version} dark={dark} />
          ) : view.page === "graph" ? (
            <GraphPage view={view} chosen={chosen} version={version} />
          ) : view.page === "data" ? (
            <DataPage chosen={chosen} version={version} />
          ) : view.page === "debugger" ? (
            <DebuggerPage view={view} chosen={chosen} version={version} />
          ) : view.page === "cluster" ? (
            <ClusterPage view={view} chosen={chosen} version={version} />
          ) : view.page === "explain" ? (
            <ExplainPage view={view} chosen={chosen} version={version} />
          ) : (
            <LineagePage view={view} chosen={chosen} version={version} />
          )}
        </main>
      </div>
    </>
  );
}

render(<App />, document.getElementById("app")!);
