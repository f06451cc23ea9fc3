// Spearman's rank correlation: how well the order of one goes with the order of the other.
export function ranks(values: number[]): number[] {
  const order = values.map((v, i) => [v, i]).sort((a, b) => a[0] - b[0]);
  const out = new Array<number>(values.length);
  for (let i = 0; i < order.length; ) {
    let j = i;
    while (j + 1 < order.length && order[j + 1][0] === order[i][0]) j++;
    for (let k = i; k <= j; k++) out[order[k][1]] = (i + j) / 2;
    i = j + 1;
  }
  return out;
}

export function correlation(a: number[], b: number[]): number {
  const [x, y] = [ranks(a), ranks(b)];
  const mean = (v: number[]) => v.reduce((s, u) => s + u, 0) / v.length;
  const [mx, my] = [mean(x), mean(y)];
  let [xy, xx, yy] = [0, 0, 0];
  x.forEach((u, i) => {
    xy += (u - mx) * (y[i] - my);
    xx += (u - mx) ** 2;
    yy += (y[i] - my) ** 2;
  });
  return xx && yy ? xy / Math.sqrt(xx * yy) : 0;
}
