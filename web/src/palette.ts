// Colours that people with any kind of colour vision tell apart (Okabe and Ito, 2008), black left out
// because it is the text's; past the seventh run lines are dashed as well.
const colours = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#b0a000"];
const dashes: number[][] = [[], [8, 4], [2, 3], [8, 3, 2, 3]];

export function colourOf(i: number): string {
  return colours[i % colours.length];
}
export function dashOf(i: number): number[] {
  return dashes[Math.floor(i / colours.length) % dashes.length];
}

// Dark blue over green to yellow, of equal steps in lightness (after viridis).
const stops = [
  [68, 1, 84],
  [59, 82, 139],
  [33, 145, 140],
  [94, 201, 98],
  [253, 231, 37],
];
export function heat(v: number): [number, number, number] {
  const x = Math.min(1, Math.max(0, v)) * (stops.length - 1);
  const i = Math.min(stops.length - 2, Math.floor(x));
  const f = x - i;
  return [0, 1, 2].map((c) => Math.round(stops[i][c] * (1 - f) + stops[i + 1][c] * f)) as [number, number, number];
}
