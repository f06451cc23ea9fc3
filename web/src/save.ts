// Files for people: what a chart shows as CSV, PNG or SVG.

export function save(name: string, content: Blob | string, type = "text/plain") {
  const blob = typeof content === "string" ? new Blob([content], { type }) : content;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name.replace(/[^\w.\-\u4e00-\u9fff]+/g, "_");
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

export function savePicture(name: string, canvas: HTMLCanvasElement) {
  const out = document.createElement("canvas");
  out.width = canvas.width;
  out.height = canvas.height;
  const c = out.getContext("2d")!;
  c.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--paper") || "#fff";
  c.fillRect(0, 0, out.width, out.height);
  c.drawImage(canvas, 0, 0);
  out.toBlob((b) => b && save(name, b));
}

const escaped = (s: string) => s.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]!);

export interface Line {
  name: string;
  colour: string;
  dash: number[];
  x: number[];
  y: (number | null)[];
}

// Lines with axes as an SVG file.
export function svg(title: string, lines: Line[], log: boolean): string {
  const [w, h, left, bottom, top] = [720, 420, 70, 40, 30];
  const f = (y: number) => (log ? Math.log10(y) : y);
  const ys = lines.flatMap((l) => l.y).filter((y): y is number => y !== null && (!log || y > 0)).map(f);
  const xs = lines.flatMap((l) => l.x);
  const range = (v: number[]) => v.reduce(([a, b], x) => [Math.min(a, x), Math.max(b, x)], [Infinity, -Infinity]);
  const [x0, x1] = range(xs);
  const [y0, y1] = range(ys);
  const px = (x: number) => left + ((x - x0) / (x1 - x0 || 1)) * (w - left - 20);
  const py = (y: number) => h - bottom - ((f(y) - y0) / (y1 - y0 || 1)) * (h - bottom - top);
  const paths = lines.map((l) => {
    let path = "";
    let pen = false;
    l.x.forEach((x, i) => {
      const y = l.y[i];
      if (y === null || (log && y <= 0)) {
        pen = false;
        return;
      }
      path += `${pen ? "L" : "M"}${px(x).toFixed(1)} ${py(y).toFixed(1)}`;
      pen = true;
    });
    return `<path d="${path}" fill="none" stroke="${l.colour}" stroke-width="1.5" stroke-dasharray="${l.dash.join(" ")}"/>`;
  });
  const names = lines.map((l, i) => `<text x="${left + 10}" y="${top + 14 + 16 * i}" fill="${l.colour}">${escaped(l.name)}</text>`);
  const ticks = [0, 1, 2, 3, 4].flatMap((i) => {
    const x = x0 + ((x1 - x0) * i) / 4;
    const y = y0 + ((y1 - y0) * i) / 4;
    const shown = log ? 10 ** y : y;
    const at = h - bottom - ((h - bottom - top) * i) / 4;
    return [
      `<text x="${px(x)}" y="${h - bottom + 18}" text-anchor="middle">${Number(x.toPrecision(5))}</text>`,
      `<text x="${left - 6}" y="${at + 4}" text-anchor="end">${Number(shown.toPrecision(3))}</text>`,
      `<path d="M${left} ${at}H${w - 20}" stroke="#ddd"/>`,
    ];
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${w}" height="${h}" font-family="sans-serif" font-size="12"><rect width="${w}" height="${h}" fill="#fff"/><text x="${w / 2}" y="18" text-anchor="middle" font-size="14">${escaped(title)}</text>${ticks.join("")}${paths.join("")}${names.join("")}</svg>`;
}
