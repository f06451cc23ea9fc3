// Arithmetic of the charts, free of the page, so that it can be tested alone.
import type { Curve } from "./api";

export type Axis = "step" | "relative" | "time";

// Exponential moving average without the pull towards zero at its start; nulls stay.
export function smooth(values: (number | null)[], weight: number): (number | null)[] {
  if (weight <= 0) return values;
  let sum = 0;
  let weights = 0;
  return values.map((v) => {
    if (v === null) return null;
    sum = sum * weight + (1 - weight) * v;
    weights = weights * weight + (1 - weight);
    return sum / weights;
  });
}

// The range that holds all but the outermost 2 % at either end.
export function inner(values: (number | null)[]): [number, number] | null {
  const sorted = values.filter((v): v is number => v !== null).sort((a, b) => a - b);
  if (sorted.length < 5) return null;
  const at = (q: number) => sorted[Math.round(q * (sorted.length - 1))];
  const low = at(0.02);
  const high = at(0.98);
  const room = (high - low) * 0.1 || Math.abs(high) * 0.1 || 1;
  return [low - room, high + room];
}

export function positions(c: Curve, axis: Axis): number[] {
  if (axis === "step") return c.step;
  if (axis === "time") return c.when;
  const first = c.when[0] ?? 0;
  return c.when.map((w) => (w - first) / 3600);
}

export function short(v: number | null | undefined): string {
  if (v === null || v === undefined || !Number.isFinite(v)) return "–";
  if (v === 0) return "0";
  const size = Math.abs(v);
  if (size >= 1e5 || size < 1e-3) return v.toExponential(3);
  return String(Number(v.toPrecision(5)));
}

// A field of a CSV file. Texts that a spreadsheet would run as a formula begin with a quote.
export function field(v: unknown): string {
  if (v === null || v === undefined) return "";
  let text = String(v);
  if (typeof v === "string" && /^[=+\-@\t\r]/.test(text)) text = `'${text}`;
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function csv(rows: unknown[][]): string {
  return rows.map((r) => r.map(field).join(",")).join("\n") + "\n";
}

// Counts of a histogram spread over `bins` of equal width between low and high.
export function rebin(limits: number[], buckets: number[], first: number, low: number, high: number, bins: number): number[] {
  const out = new Array<number>(bins).fill(0);
  const width = (high - low) / bins || 1;
  let left = first;
  buckets.forEach((count, i) => {
    const right = limits[i];
    const from = (left - low) / width;
    const to = (right - low) / width;
    if (to - from < 1e-9) {
      const b = Math.min(bins - 1, Math.max(0, Math.floor(from)));
      out[b] += count;
    } else {
      for (let b = Math.max(0, Math.floor(from)); b < Math.min(bins, Math.ceil(to)); b++) {
        const part = Math.min(to, b + 1) - Math.max(from, b);
        if (part > 0) out[b] += (count * part) / (to - from);
      }
    }
    left = right;
  });
  return out;
}
