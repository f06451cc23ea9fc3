// Where the parts of a group stand: laid out in a worker, so that the page answers meanwhile.
import type { Edge } from "./outline";

export interface Placed {
  x: number;
  y: number;
  width: number;
  height: number;
}
export interface Join extends Edge {
  points: { x: number; y: number }[];
}
export interface Layout {
  places: Placed[];
  joins: Join[];
  width: number;
  height: number;
}
export interface LayoutQuestion {
  number: number;
  widths: number[]; // of the parts, in pixels
  edges: Edge[];
}

let worker: Worker | null = null;
let asked = 0;
const waiting = new Map<number, (l: Layout) => void>();

export function layOut(widths: number[], edges: Edge[]): Promise<Layout> {
  if (!worker) {
    worker = new Worker(new URL("./layout.worker.ts", import.meta.url), { type: "module" });
    worker.onmessage = (e: MessageEvent<{ number: number; layout: Layout }>) => {
      waiting.get(e.data.number)?.(e.data.layout);
      waiting.delete(e.data.number);
    };
  }
  const number = ++asked;
  return new Promise((done) => {
    waiting.set(number, done);
    worker!.postMessage({ number, widths, edges } satisfies LayoutQuestion);
  });
}
