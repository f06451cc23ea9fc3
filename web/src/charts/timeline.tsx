// Slices of all threads on a canvas. The server joins what is narrower than a pixel, so that any number
// of them is drawn in a few milliseconds; while an answer is on its way, the old one is drawn scaled.
import { useEffect, useRef, useState } from "preact/hooks";
import { ask } from "../api";
import { colourOfSlice, duration, fields, headHeight, heightOf, hit, last, rowHeight, type Shape, type Slices } from "../profile";
import { pt } from "../profile_words";

interface Window {
  from: number;
  to: number;
}

export function Timeline({ file, length, dark }: { file: string; length: number; dark: boolean }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const [range, setRange] = useState<Window>({ from: 0, to: length });
  const [slices, setSlices] = useState<Slices | null>(null);
  const [find, setFind] = useState("");
  const [over, setOver] = useState<Shape | null>(null);
  const [chosen, setChosen] = useState<string[]>([]);
  const [width, setWidth] = useState(800);
  const drag = useRef<{ x: number; range: Window; moved: boolean } | null>(null);

  const limited = (r: Window): Window => {
    const span = Math.min(length, Math.max(200, r.to - r.from));
    const from = Math.min(Math.max(0, r.from), length - span);
    return { from, to: from + span };
  };
  // Around a place, as a share of the width: several events may come before the next drawing.
  const zoom = (by: number, share: number) =>
    setRange((r) => {
      const at = r.from + share * (r.to - r.from);
      return limited({ from: at - (at - r.from) * by, to: at + (r.to - at) * by });
    });
  const move = (share: number) => setRange((r) => limited({ from: r.from + (r.to - r.from) * share, to: r.to + (r.to - r.from) * share }));

  useEffect(() => setRange({ from: 0, to: length }), [file, length]);
  useEffect(() => {
    if (!box.current) return;
    const sized = new ResizeObserver(() => box.current && setWidth(Math.max(300, box.current.clientWidth)));
    sized.observe(box.current);
    return () => sized.disconnect();
  }, []);
  useEffect(() => {
    let old = false;
    // A margin on both sides, so that moving shows something at once.
    const span = range.to - range.from;
    const wait = setTimeout(
      () => {
        const args = { file, from: Math.floor(Math.max(0, range.from - span / 2)), to: Math.ceil(Math.min(length, range.to + span / 2)), columns: width * 2, find };
        ask<Slices>("slices", args).then(
          (s) => {
            if (old) return;
            setOver(null); // it is of the slices before
            setSlices(s);
          },
          () => {},
        );
      },
      slices ? 60 : 0,
    );
    return () => {
      old = true;
      clearTimeout(wait);
    };
  }, [file, range.from, range.to, width, find]);

  const height = slices ? heightOf(slices) : 120;
  useEffect(() => {
    const c = canvas.current;
    if (!c || !slices) return;
    const begun = performance.now();
    const ratio = window.devicePixelRatio || 1;
    if (c.width !== Math.round(width * ratio) || c.height !== Math.round(height * ratio)) {
      c.width = Math.round(width * ratio);
      c.height = Math.round(height * ratio);
    }
    const g = c.getContext("2d")!;
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    const count = draw(g, slices, range, width, height, over);
    c.dataset.drawn = String(count);
    c.dataset.drawMs = (performance.now() - begun).toFixed(2);
  });

  const timeAt = (x: number) => range.from + (x / width) * (range.to - range.from);
  const place = (e: MouseEvent) => {
    const r = canvas.current!.getBoundingClientRect();
    return { x: e.clientX - r.left, y: e.clientY - r.top };
  };
  const shapeAt = (e: MouseEvent) => {
    const { x, y } = place(e);
    return slices && hit(slices, timeAt(x), y, ((range.to - range.from) / width) * 1.5);
  };
  const facts = (s: Shape): string[] => {
    const row = slices!.tracks[s.track]?.rows[s.row] ?? [];
    const w = slices!.whats[row[s.at + 2]];
    if (!w) return [];
    const many = row[s.at + 3];
    const number = w.kind === "step" || w.kind === "queue" ? ` ${row[s.at + 4]}` : "";
    return [`${w.name}${number}${many > 1 ? ` (${many} ${pt("joined")})` : ""}`, duration(row[s.at + 1]), w.types, w.implementation, w.where, slices!.tracks[s.track].name].filter(Boolean);
  };
  useEffect(() => {
    // A listener that may prevent the page from scrolling cannot be given as an attribute.
    const c = canvas.current;
    if (!c) return;
    const wheel = (e: WheelEvent) => {
      e.preventDefault();
      if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) move(e.deltaX / width);
      else zoom(e.deltaY < 0 ? 0.8 : 1.25, place(e).x / width);
    };
    c.addEventListener("wheel", wheel, { passive: false });
    return () => c.removeEventListener("wheel", wheel);
  });

  return (
    <div class="timeline" ref={box}>
      <p class="controls">
        <label>
          <span class="hidden">{pt("find")}</span>
          <input id="find-slice" type="search" placeholder={pt("find")} value={find} onInput={(e) => setFind(e.currentTarget.value)} />
        </label>
        {find && slices && (
          <span>
            <output id="slice-hits">{slices.hits}</output> {pt("found")}{" "}
            {slices.first_hit >= 0 && <button onClick={() => setRange((r) => limited({ from: slices.first_hit - (r.to - r.from) * 0.05, to: slices.first_hit + (r.to - r.from) * 0.05 }))}>→</button>}
          </span>
        )}
        <button onClick={() => setRange({ from: 0, to: length })}>{pt("all")}</button>
        <span class="facts" id="window">
          {duration(range.from)} – {duration(range.to)}
        </span>
      </p>
      <canvas
        id="timeline"
        ref={canvas}
        role="img"
        tabindex={0}
        aria-label={pt("timeline")}
        style={{ width: `${width}px`, height: `${height}px` }}
        data-dark={dark}
        onPointerDown={(e) => {
          drag.current = { x: e.clientX, range, moved: false };
        }}
        onPointerMove={(e) => {
          const d = drag.current;
          if (!d) return setOver(shapeAt(e));
          const by = ((e.clientX - d.x) / width) * (d.range.to - d.range.from);
          if (Math.abs(e.clientX - d.x) > 3) d.moved = true;
          if (d.moved) setRange(limited({ from: d.range.from - by, to: d.range.to - by }));
        }}
        onPointerUp={(e) => {
          const s = drag.current?.moved ? null : shapeAt(e);
          if (s) setChosen(facts(s));
          drag.current = null;
        }}
        onPointerLeave={() => {
          drag.current = null;
          setOver(null);
        }}
        onDblClick={(e) => {
          const s = shapeAt(e);
          if (!s) return;
          const row = slices!.tracks[s.track].rows[s.row];
          setRange(limited({ from: row[s.at] - row[s.at + 1] * 0.1, to: row[s.at] + row[s.at + 1] * 1.1 }));
        }}
        onKeyDown={(e) => {
          if (e.key === "ArrowLeft") move(-0.2);
          else if (e.key === "ArrowRight") move(0.2);
          else if (e.key === "+" || e.key === "=") zoom(0.7, 0.5);
          else if (e.key === "-") zoom(1.4, 0.5);
          else if (e.key === "0") setRange({ from: 0, to: length });
          else return;
          e.preventDefault();
          e.stopPropagation();
        }}
      />
      <p class="facts">{slices?.cut ? pt("cut") : pt("hint")}</p>
      <p id="slice" class="slice" aria-live="polite">
        {(over && slices ? facts(over) : chosen).join(" · ")}
      </p>
    </div>
  );
}

function draw(g: CanvasRenderingContext2D, s: Slices, r: Window, width: number, height: number, over: Shape | null): number {
  const style = getComputedStyle(document.documentElement);
  const ink = style.getPropertyValue("--ink").trim();
  const soft = style.getPropertyValue("--soft").trim();
  const line = style.getPropertyValue("--line").trim();
  g.clearRect(0, 0, width, height);
  const scale = width / (r.to - r.from);
  const searching = s.whats.some((w) => w.found);
  let top = 0;
  let count = 0;
  g.textBaseline = "middle";
  g.font = "11px system-ui, sans-serif";
  const step = niceStep((r.to - r.from) / 8);
  for (let at = Math.ceil(r.from / step) * step; at < r.to; at += step) {
    g.fillStyle = line;
    g.fillRect((at - r.from) * scale, 0, 1, height);
  }
  s.tracks.forEach((track, t) => {
    g.fillStyle = soft;
    g.fillText(track.name, 4, top + headHeight / 2);
    track.rows.forEach((row, k) => {
      const y = top + headHeight + k * rowHeight;
      for (let i = Math.max(0, last(row, r.from)); i < row.length; i += fields) {
        const x = (row[i] - r.from) * scale;
        if (x > width) break;
        const w = Math.max(1, row[i + 1] * scale);
        if (x + w < 0) continue;
        const what = s.whats[row[i + 2]];
        g.globalAlpha = searching && !what.found ? 0.25 : 1;
        g.fillStyle = colourOfSlice(what);
        g.fillRect(x, y, w > 3 ? w - 0.5 : w, rowHeight - 2);
        ++count;
        if (over && over.track === t && over.row === k && over.at === i) {
          g.strokeStyle = ink;
          g.strokeRect(x, y, w, rowHeight - 2);
        }
        if (w > 36) {
          g.fillStyle = what.kind === "step" || what.kind === "data" || what.kind === "share" || what.kind === "compile" ? "#111" : "#fff";
          const left = Math.max(x, 0) + 3;
          const room = Math.floor((Math.min(x + w, width) - left) / 6);
          const name = what.kind === "step" ? `${what.name} ${row[i + 4]}` : what.name;
          if (room > 3) g.fillText(name.length > room ? `${name.slice(0, room - 1)}…` : name, left, y + rowHeight / 2 - 1);
        }
      }
    });
    g.globalAlpha = 1;
    top += headHeight + Math.max(1, track.rows.length) * rowHeight + 4;
    g.fillStyle = line;
    g.fillRect(0, top - 2, width, 1);
  });
  return count;
}

function niceStep(about: number): number {
  const power = 10 ** Math.floor(Math.log10(about));
  const f = about / power;
  return power * (f > 5 ? 10 : f > 2 ? 5 : f > 1 ? 2 : 1);
}
