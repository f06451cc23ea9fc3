// The smaller charts of the Profiler page: bars of steps, memory over time, roofline.
import { bars, colour, duration, size, type Profile, type Row } from "../profile";
import { partName, pt } from "../profile_words";

export function StepBars({ p }: { p: Profile }) {
  const shown = bars(p.steps, 160);
  const lengths = shown.slice(shown.length > 1 ? 1 : 0).map((s) => s.length);
  const most = Math.max(1, ...lengths) * 1.05; // the first, which compiles, may reach beyond
  const [w, h] = [1000, 220];
  const each = (w - 90) / Math.max(1, shown.length);
  return (
    <svg id="steps" class="profile-chart" viewBox={`0 0 ${w} ${h}`} role="img" aria-label={`${pt("steps")}: ${p.step_count}`}>
      {[0, 0.5, 1].map((f) => (
        <g key={f}>
          <path d={`M85 ${h - 24 - f * (h - 40)}H${w}`} class="grid" />
          <text x={80} y={h - 20 - f * (h - 40)} class="end">
            {duration(most * f)}
          </text>
        </g>
      ))}
      {shown.map((s, i) => {
        let y = h - 24;
        return (
          <g key={s.number} data-step={s.number}>
            <title>{`${s.number}: ${duration(s.length)}\n${s.parts.map((v, k) => (v ? `${partName(p.parts[k])} ${duration(v)}` : "")).filter(Boolean).join("\n")}`}</title>
            {s.parts.map((v, k) => {
              const tall = Math.min(y - 8, (v / most) * (h - 40));
              if (tall <= 0) return null;
              y -= tall;
              return <rect key={k} x={88 + i * each} y={y} width={Math.max(0.8, each - (each > 4 ? 1.5 : 0))} height={tall} fill={colour(p.parts[k])} />;
            })}
            {i % Math.ceil(shown.length / 12) === 0 && (
              <text x={88 + i * each + each / 2} y={h - 8}>
                {s.number}
              </text>
            )}
          </g>
        );
      })}
    </svg>
  );
}

export function PartLegend({ p }: { p: Profile }) {
  return (
    <ul class="legend parts">
      {p.parts.map((name, i) =>
        p.typical.parts[i] > 0 ? (
          <li key={name} data-part={name}>
            <i style={{ background: colour(name) }} />
            <span class="name">{partName(name)}</span>
            <output>{duration(p.typical.parts[i])}</output>
            <small>{((100 * p.typical.parts[i]) / Math.max(1, p.typical.length)).toFixed(1)} %</small>
          </li>
        ) : null,
      )}
    </ul>
  );
}

export function MemoryCurve({ p }: { p: Profile }) {
  const m = p.memory;
  const [w, h] = [1000, 180];
  const most = Math.max(1, m.peak);
  const x = (ns: number) => 80 + (ns / Math.max(1, p.length)) * (w - 100);
  const y = (b: number) => h - 22 - (b / most) * (h - 40);
  let path = "";
  m.when.forEach((at, i) => {
    path += i === 0 ? `M${x(at)} ${y(m.bytes[i])}` : `H${x(at)}V${y(m.bytes[i])}`;
  });
  return (
    <svg id="memory" class="profile-chart" viewBox={`0 0 ${w} ${h}`} role="img" aria-label={`${pt("memory")}: ${size(m.peak)} ${pt("peak")}`}>
      {[0, 0.5, 1].map((f) => (
        <g key={f}>
          <path d={`M80 ${y(most * f)}H${w}`} class="grid" />
          <text x={74} y={y(most * f) + 4} class="end">
            {size(most * f)}
          </text>
        </g>
      ))}
      <path d={path} class="curve" />
      <circle cx={x(m.peak_when)} cy={y(m.peak)} r={4} class="mark">
        <title>{size(m.peak)}</title>
      </circle>
      <text x={80} y={h - 6}>
        0
      </text>
      <text x={w - 30} y={h - 6}>
        {duration(p.length)}
      </text>
    </svg>
  );
}

// Speed over intensity, both logarithmic, under what the machine can do.
export function Roofline({ p, choose }: { p: Profile; choose: (r: Row) => void }) {
  const { gflops, gbytes } = p.machine;
  const rows = p.rows.filter((r) => r.gflops > 0 && r.bytes > 0).slice(0, 200);
  if (!rows.length || !gflops || !gbytes) return null;
  const intensity = (r: Row) => r.flops / r.bytes;
  const [w, h] = [1000, 320];
  const low = Math.min(0.05, ...rows.map(intensity)) / 2;
  const high = Math.max(1000, ...rows.map(intensity)) * 2;
  const bottom = Math.max(1e-3, Math.min(gflops / 1000, ...rows.map((r) => r.gflops)) / 2);
  const topOf = Math.max(gflops, ...rows.map((r) => r.gflops)) * 2;
  const place = (v: number, a: number, b: number) => (Math.log10(v) - Math.log10(a)) / (Math.log10(b) - Math.log10(a));
  const x = (v: number) => 60 + place(v, low, high) * (w - 80);
  const y = (v: number) => h - 30 - place(v, bottom, topOf) * (h - 45);
  const ridge = gflops / gbytes;
  const start = Math.max(low, bottom / gbytes);
  const most = Math.max(...rows.map((r) => r.ns));
  return (
    <svg id="roofline" class="profile-chart" viewBox={`0 0 ${w} ${h}`} role="img" aria-label={pt("roofline")}>
      <path d={`M${x(start)} ${y(start * gbytes)}L${x(ridge)} ${y(gflops)}H${w - 20}`} class="roof" />
      <text x={w - 22} y={y(gflops) - 6} class="end">
        {gflops.toFixed(0)} GFLOP/s
      </text>
      <text x={x(start) + 8} y={y(start * gbytes) - 12} class="begin">
        {gbytes.toFixed(1)} GB/s
      </text>
      <text x={w - 22} y={h - 8} class="end">
        {pt("intensity")}: {low.toPrecision(1)} … {high.toPrecision(1)}
      </text>
      {rows.map((r, i) => (
        <circle key={i} cx={x(intensity(r))} cy={y(r.gflops)} r={3 + 12 * Math.sqrt(r.ns / most)} fill={colour(r.phase)} class="point" onClick={() => choose(r)}>
          <title>{`${r.name}\n${r.types}\n${r.gflops.toFixed(1)} GFLOP/s, ${r.gbytes.toFixed(1)} GB/s, ${(100 * r.of_limit).toFixed(0)} %`}</title>
        </circle>
      ))}
    </svg>
  );
}
