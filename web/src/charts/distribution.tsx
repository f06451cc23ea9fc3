// Histograms over steps, as ridges (one curve a step, later ones in front) or as a heat map.
import { useEffect, useRef, useState } from "preact/hooks";
import { ask, type Frame } from "../api";
import { csv, rebin, short } from "../numbers";
import { colourOf, heat } from "../palette";
import { save, savePicture } from "../save";
import { t } from "../state";
import type { Shown } from "./line";

const bins = 80;

function draw(canvas: HTMLCanvasElement, frames: Frame[], form: string, colour: string) {
  const scale = devicePixelRatio || 1;
  const w = canvas.clientWidth;
  const h = 220;
  canvas.width = w * scale;
  canvas.height = h * scale;
  const c = canvas.getContext("2d")!;
  c.scale(scale, scale);
  c.clearRect(0, 0, w, h);
  const low = Math.min(...frames.map((f) => f.min));
  const high = Math.max(...frames.map((f) => f.max));
  const room = high > low ? 0 : Math.abs(low) * 0.1 || 1;
  const rows = frames.map((f) => rebin(f.limits, f.buckets, f.min, low - room, high + room, bins));
  const style = getComputedStyle(document.documentElement);
  c.font = "11px sans-serif";
  c.fillStyle = style.getPropertyValue("--soft");
  c.textAlign = "left";
  const [left, right, bottom] = [8, 56, 18];
  const plotW = w - left - right;
  c.fillText(short(low), left, h - 4);
  c.textAlign = "right";
  c.fillText(short(high), left + plotW, h - 4);
  c.textAlign = "left";
  if (form === "heat") {
    const tall = (h - bottom) / rows.length;
    const most = Math.max(...rows.map((r) => Math.max(...r.map((v) => v / (r.reduce((a, b) => a + b, 0) || 1)))));
    rows.forEach((r, i) => {
      const sum = r.reduce((a, b) => a + b, 0) || 1;
      r.forEach((v, b) => {
        if (v <= 0) return;
        const [red, green, blue] = heat(Math.sqrt(v / sum / most));
        c.fillStyle = `rgb(${red},${green},${blue})`;
        c.fillRect(left + (b * plotW) / bins, h - bottom - (i + 1) * tall, plotW / bins + 0.5, tall + 0.5);
      });
    });
  } else {
    const most = Math.max(...rows.flat()) || 1;
    const rise = 60;
    const between = (h - bottom - rise) / Math.max(1, rows.length - 1);
    const paper = style.getPropertyValue("--paper");
    for (let i = rows.length - 1; i >= 0; i--) {
      const base = h - bottom - i * between;
      c.beginPath();
      c.moveTo(left, base);
      rows[i].forEach((v, b) => c.lineTo(left + ((b + 0.5) * plotW) / bins, base - (v / most) * rise));
      c.lineTo(left + plotW, base);
      c.closePath();
      c.fillStyle = paper;
      c.globalAlpha = 0.75;
      c.fill();
      c.globalAlpha = 1;
      c.strokeStyle = colour;
      c.lineWidth = 1;
      c.stroke();
    }
  }
  c.fillStyle = style.getPropertyValue("--soft");
  const first = frames[0].step;
  const last = frames[frames.length - 1].step;
  c.fillText(String(first), left + plotW + 6, h - bottom);
  if (last !== first) c.fillText(String(last), left + plotW + 6, 14 + (form === "heat" ? 0 : 40));
}

export function DistributionChart({ tag, run, form, version, dark }: { tag: string; run: Shown; form: string; version: number; dark: boolean }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [frames, setFrames] = useState<Frame[]>([]);
  useEffect(() => {
    let old = false;
    ask<Frame[]>("histograms", { run: run.id, tag, limit: 40 })
      .then((f) => !old && setFrames(f))
      .catch(() => !old && setFrames([]));
    return () => {
      old = true;
    };
  }, [tag, run.id, version]);
  useEffect(() => {
    const redraw = () => canvas.current && frames.length && draw(canvas.current, frames, form, colourOf(run.colour));
    redraw();
    const sized = new ResizeObserver(redraw);
    if (canvas.current) sized.observe(canvas.current);
    return () => sized.disconnect();
  }, [frames, form, dark]);
  const last = frames[frames.length - 1];
  const exportCsv = () =>
    save(`${tag}.csv`, csv([["step", "left", "right", "count"], ...frames.flatMap((f) => f.limits.map((r, i) => [f.step, i ? f.limits[i - 1] : f.min, r, f.buckets[i]]))]), "text/csv");
  return (
    <section class="card" data-tag={tag} aria-label={`${tag}, ${run.name}`}>
      <header>
        <h3>
          {tag} <small>{run.name}</small>
        </h3>
        <span class="tools">
          <button onClick={exportCsv}>CSV</button>
          <button onClick={() => canvas.current && savePicture(`${tag}.png`, canvas.current)}>PNG</button>
        </span>
      </header>
      <canvas ref={canvas} class="distribution" role="img" aria-label={last ? `${tag}: ${short(last.min)} … ${short(last.max)}` : tag} />
      {last && (
        <p class="facts">
          {t("step")} <output class="last-step">{last.step}</output> · min <output class="min">{short(last.min)}</output> · max{" "}
          <output class="max">{short(last.max)}</output> · {last.count} {t("values")}
        </p>
      )}
    </section>
  );
}
