// The debugger's answers, as src/insight/server/debug_answers.cc gives them, and commands to it.

export interface Parameter {
  name: string;
  doc: string;
  unit: string;
  default: number;
  set: boolean;
  test: boolean;
}
export interface Condition {
  name: string;
  role: string;
  doc: string;
  chinese: string;
  compares: boolean;
  parameters: Parameter[];
}
export interface Watchpoint {
  id: number;
  condition: string;
  parameters: Record<string, number>;
  scopes: string[];
  on: boolean;
  pauses: boolean;
}
export interface Finding {
  parameter: string;
  threshold: number;
  measured: number | string;
}
export interface Hit {
  watchpoint: number;
  condition: string;
  step: number;
  order: number;
  name: string;
  op: string;
  at: string;
  scope: string;
  role: string;
  findings: Finding[];
}
export interface State {
  none?: boolean;
  live: boolean;
  paused?: boolean;
  why?: string;
  at?: string;
  step?: number;
  inside?: boolean;
  version?: number;
  steps: number[];
  dumped?: boolean;
  watchpoints: Watchpoint[];
  hits: Hit[];
  hit_count?: number;
}
export interface Entry {
  name: string;
  role: string;
  op: string;
  at: string;
  dtype: string;
  shape: number[];
  order: number;
  visits: number;
  kept: boolean;
  not_finite?: number;
}
export interface Tree {
  step: number;
  groups?: { name: string; count: number }[];
  entries: Entry[];
  count: number;
}
export type Statistics = Record<string, number>;
export interface Heat {
  rows: number;
  columns: number;
  cells: (number | null)[];
  marks: number[];
  low: number | null;
  high: number | null;
  sampled: boolean;
}
export interface Tensor extends Entry {
  step: number;
  inputs: string[];
  statistics?: Statistics;
  quantiles?: number[];
  histogram?: { min: number; limits: number[]; buckets: number[] } | null;
  slice?: string;
  heat?: Heat;
  window?: { row: number; column: number; rows: number; columns: number; values: (number | string)[][] };
  before?: { step: number; statistics: Statistics; mean_change: number; largest_change: number; ratio: number | null; heat: Heat };
}

// Only pages of this server can send this header.
export async function command<T>(body: Record<string, unknown>): Promise<T> {
  const answer = await fetch("api/debug", {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Mycel": "1" },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error((await answer.text()).trim());
  return answer.json() as Promise<T>;
}

// "net.py:41 in Net.construct" as a file and a line.
export function place(at: string): { path: string; line: number } | null {
  const found = at.match(/^(.*?):(\d+)/);
  return found ? { path: found[1], line: Number(found[2]) } : null;
}

// What is typed between commas.
export function scopesOf(text: string): string[] {
  return text
    .split(",")
    .map((s) => s.trim())
    .filter(Boolean);
}
