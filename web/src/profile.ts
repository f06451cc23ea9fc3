// Profiles as the server gives them (src/insight/profile/json.cc), and what the page computes of them.
export interface Step {
  number: number;
  start: number;
  length: number;
  parts: number[];
}
export interface Row {
  name: string;
  kind: string;
  phase: string;
  types: string;
  implementation: string;
  where: string;
  lines: number;
  runs: number;
  ns: number;
  least: number;
  most: number;
  flops: number;
  bytes: number;
  gflops: number;
  gbytes: number;
  of_limit: number;
  by_memory: boolean;
}
export interface Alive {
  name: string;
  types: string;
  where: string;
  place: string;
  bytes: number;
  blocks: number;
}
export interface Profile {
  machine: { processor: string; host: string; command: string; version: string; threads: number; cores: number; memory: number; gflops: number; gbytes: number };
  length: number;
  wall: number;
  unattributed: number;
  dropped: number;
  parts: string[];
  step_count: number;
  steps_guessed: boolean;
  steps: Step[];
  typical: { length: number; parts: number[] };
  rows: Row[];
  ops: { name: string; kind: string; runs: number; ns: number }[];
  threads: { name: string; slices: number; dropped: number; busy: number; waiting: number }[];
  data: { name: string; rows: number; ns: number; own_ns: number }[];
  waits: { name: string; count: number; ns: number }[];
  queue: { empty: number; mean: number };
  loops: { ns: number; imbalance: number };
  compiles: { all: number; late: number };
  memory: { recorded: boolean; peak: number; peak_when: number; when: number[]; bytes: number[]; alive: Alive[] };
  advice: { rule: string; share: number; en: string; zh: string }[];
  problems: string[];
}
export interface What {
  name: string;
  kind: string;
  phase: string;
  types: string;
  implementation: string;
  where: string;
  found: boolean;
}
export interface Slices {
  from: number;
  to: number;
  whats: What[];
  tracks: { name: string; main: boolean; rows: number[][] }[]; // start, length, what, how many, number, …
  hits: number;
  first_hit: number;
  cut: boolean;
}
export const fields = 5; // numbers of a slice

export function duration(ns: number): string {
  if (ns >= 1e9) return `${(ns / 1e9).toFixed(3)} s`;
  if (ns >= 1e6) return `${(ns / 1e6).toFixed(3)} ms`;
  if (ns >= 1e3) return `${(ns / 1e3).toFixed(1)} µs`;
  return `${Math.round(ns)} ns`;
}
export function size(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let v = bytes;
  let u = 0;
  while (Math.abs(v) >= 1024 && u < units.length - 1) {
    v /= 1024;
    u++;
  }
  return `${u === 0 ? v : v.toFixed(v >= 100 ? 0 : 1)} ${units[u]}`;
}

// At most `most` bars: neighbours are averaged.
export function bars(steps: Step[], most: number): Step[] {
  const group = Math.ceil(steps.length / most);
  if (group <= 1) return steps;
  const out: Step[] = [];
  for (let i = 0; i < steps.length; i += group) {
    const some = steps.slice(i, i + group);
    const mean = (f: (s: Step) => number) => some.reduce((a, s) => a + f(s), 0) / some.length;
    out.push({ number: some[0].number, start: some[0].start, length: mean((s) => s.length), parts: some[0].parts.map((_, p) => mean((s) => s.parts[p])) });
  }
  return out;
}

// Okabe and Ito's colours: phases and parts look the same everywhere on the page.
const colours: Record<string, string> = {
  data: "#e69f00",
  wait: "#cc79a7",
  forward: "#0072b2",
  backward: "#d55e00",
  update: "#009e73",
  compile: "#56b4e9",
  callbacks: "#b0a000",
  callback: "#b0a000",
  host: "#7f8791",
  program: "#7f8791",
  step: "#aeb6c1",
  other: "#c4cad3",
  share: "#8fb7d3",
};
export const colour = (name: string): string => colours[name] ?? "#7f8791";
export const colourOfSlice = (w: What): string => colour(w.kind === "kernel" || w.kind === "eager" ? w.phase : w.kind);

export interface Shape {
  track: number;
  row: number;
  at: number; // place in the row's numbers
}
export const rowHeight = 16;
export const headHeight = 18;
export function heightOf(s: Slices): number {
  return s.tracks.reduce((h, t) => h + headHeight + Math.max(1, t.rows.length) * rowHeight + 4, 0);
}
// What lies at a place of the timeline: y in pixels, time in ns.
export function hit(s: Slices, time: number, y: number, slack: number): Shape | null {
  let top = 0;
  for (let t = 0; t < s.tracks.length; t++) {
    const rows = s.tracks[t].rows;
    const row = Math.floor((y - top - headHeight) / rowHeight);
    const height = headHeight + Math.max(1, rows.length) * rowHeight + 4;
    if (y < top + height) {
      if (row < 0 || row >= rows.length) return null;
      const at = last(rows[row], time + slack);
      return at >= 0 && rows[row][at] + rows[row][at + 1] + slack >= time ? { track: t, row, at } : null;
    }
    top += height;
  }
  return null;
}
// The place of the last slice that starts at `time` or before; -1: none.
export function last(row: number[], time: number): number {
  let low = 0;
  let high = row.length / fields;
  while (low < high) {
    const mid = (low + high) >> 1;
    if (row[mid * fields] <= time) low = mid + 1;
    else high = mid;
  }
  return (low - 1) * fields;
}
