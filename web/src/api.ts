// The server's answers, as src/insight/server/answers.cc gives them.

export interface Run {
  id: number;
  name: string;
  first: number;
  last: number;
  step: number;
}
// [run, count, last step, last value]
export type Held = [number, number, number, number | null];
export interface Tag {
  tag: string;
  runs: Held[];
}
export type Tags = Partial<Record<"scalar" | "histogram" | "image" | "text" | "tensor" | "record", Tag[]>>;
export interface Curve {
  step: number[];
  when: number[];
  mean: (number | null)[];
  min?: (number | null)[];
  max?: (number | null)[];
  count?: number[];
  not_finite: number[];
}
export interface Frame {
  step: number;
  min: number;
  max: number;
  count: number;
  limits: number[];
  buckets: number[];
}
export interface Item {
  number: number;
  step: number;
  when: number;
}
export interface LineageRow {
  run: number;
  name: string;
  step: number;
  first: number;
  last: number;
  facts: Record<string, number | string | boolean | null>;
  scalars: Record<string, number | null>;
}
export interface Problem {
  file: string;
  text: string;
}

export function address(question: string, args: Record<string, string | number> = {}): string {
  const list = new URLSearchParams();
  for (const [k, v] of Object.entries(args)) list.set(k, String(v));
  const text = list.toString();
  return `api/${question}${text ? `?${text}` : ""}`;
}

export async function ask<T>(question: string, args: Record<string, string | number> = {}): Promise<T> {
  const answer = await fetch(address(question, args));
  if (!answer.ok) throw new Error((await answer.text()).trim());
  return answer.json() as Promise<T>;
}

// Calls f now and whenever the records have changed.
export function follow(f: (version: number) => void, lost: (away: boolean) => void): () => void {
  const source = new EventSource("api/changes");
  source.onmessage = (e) => {
    lost(false);
    f(Number(e.data));
  };
  source.onerror = () => lost(true);
  return () => source.close();
}
