// What a view shows stands in its address, so that it can be shared: #/page?key=value. What belongs to
// the person (dark mode, language) stays in the browser.
import { useEffect, useState } from "preact/hooks";
import type { Language, Word } from "./words";
import { words } from "./words";

export type Page = "dashboard" | "graph" | "data" | "lineage" | "profiler" | "debugger" | "cluster" | "explain";
export const pages: Page[] = ["dashboard", "graph", "data", "lineage", "profiler", "debugger", "cluster", "explain"];

export interface View {
  page: Page;
  get(key: string, otherwise?: string): string;
  number(key: string, otherwise: number): number;
  // The address with these changed; "" removes a key.
  set(changes: Record<string, string | number>): void;
}

function parse(): { page: Page; args: URLSearchParams } {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  const page = pages.includes(path as Page) ? (path as Page) : "dashboard";
  return { page, args: new URLSearchParams(query ?? "") };
}

export function go(page: Page, keep: string[] = ["runs"]) {
  const { args } = parse();
  const next = new URLSearchParams();
  for (const k of keep) {
    const v = args.get(k);
    if (v !== null) next.set(k, v);
  }
  location.hash = `/${page}${next.size ? `?${next}` : ""}`;
}

export function useView(): View {
  const [, redraw] = useState(0);
  useEffect(() => {
    const f = () => redraw((n) => n + 1);
    addEventListener("hashchange", f);
    return () => removeEventListener("hashchange", f);
  }, []);
  const { page, args } = parse();
  return {
    page,
    get: (key, otherwise = "") => args.get(key) ?? otherwise,
    number: (key, otherwise) => {
      const v = Number(args.get(key) ?? NaN);
      return Number.isFinite(v) ? v : otherwise;
    },
    set: (changes) => {
      const now = parse();
      for (const [k, v] of Object.entries(changes)) {
        if (v === "") now.args.delete(k);
        else now.args.set(k, String(v));
      }
      history.replaceState(null, "", `#/${now.page}${now.args.size ? `?${now.args}` : ""}`);
      redraw((n) => n + 1);
      dispatchEvent(new HashChangeEvent("hashchange"));
    },
  };
}

function stored(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}
export function store(key: string, value: string) {
  try {
    localStorage.setItem(key, value);
  } catch {
    // A browser that keeps nothing shows the defaults next time.
  }
}

export function startLanguage(): Language {
  const own = stored("language");
  if (own === "en" || own === "zh") return own;
  return navigator.language.startsWith("zh") ? "zh" : "en";
}
export function startDark(): boolean {
  const own = stored("dark");
  return own === null ? matchMedia("(prefers-color-scheme: dark)").matches : own === "1";
}

let language: Language = "en";
export function speak(l: Language) {
  language = l;
  document.documentElement.lang = l === "zh" ? "zh-CN" : "en";
}
export const spoken = (): Language => language;
export const t = (w: Word): string => words[language][w];
