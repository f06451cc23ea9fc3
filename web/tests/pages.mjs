// The pages in a real browser, on the runs that record.py has made: clicks, and reads numbers back.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";

const folder = process.env.MYCEL_PAGES;
const expected = JSON.parse(readFileSync(`${folder}/runs/expected.json`));
const runs = Object.keys(expected.runs);
const shots = `${folder}/screenshots`;
mkdirSync(shots, { recursive: true });
let server, browser, page, url;
const wrong = [];

before(async () => {
  server = spawn(process.env.MYCEL_PROGRAM, ["insight", `${folder}/runs`, "--port", "0", "--database", `${folder}/index`]);
  url = await new Promise((done) => server.stdout.once("data", (d) => done(String(d).trim())));
  browser = await chromium.launch({ executablePath: process.env.MYCEL_BROWSER, args: ["--no-sandbox"] });
  const context = await browser.newContext({ viewport: { width: 1400, height: 950 }, acceptDownloads: true, locale: "en-US", colorScheme: "light" });
  page = await context.newPage();
  page.on("pageerror", (e) => wrong.push(e.message));
  page.on("console", (m) => m.type() === "error" && wrong.push(m.text()));
  page.on("dialog", (d) => {
    wrong.push("a dialog opened");
    d.dismiss();
  });
});
after(async () => {
  await browser?.close();
  server?.kill("SIGTERM");
});

const open = async (hash) => {
  await page.goto("about:blank");
  await page.goto(url + hash);
};
const shot = (name) => page.screenshot({ path: `${shots}/${name}.png` });
const number = async (where) => Number(await page.locator(where).first().innerText());
const near = (a, b, what) => assert.ok(Math.abs(a - b) <= 1e-3 * Math.max(1e-3, Math.abs(b)), `${what}: ${a}, not ${b}`);
const legend = (tag, run) => `section[data-tag="${tag}"] li[data-run="${run}"] output`;

test("the dashboard shows what was recorded", async () => {
  await open("#/dashboard");
  await page.waitForSelector(legend("loss/auto", runs[0]));
  for (const run of runs) {
    near(await number(legend("loss/auto", run)), expected.runs[run].loss, `loss of ${run}`);
    near(await number(legend("eval/acc", run)), expected.runs[run].acc, `accuracy of ${run}`);
  }
  const card = page.locator('section[data-tag="conv.weight/auto"]', { hasText: runs[1] });
  await card.scrollIntoViewIfNeeded();
  await card.locator(".min").waitFor();
  near(Number(await card.locator(".min").innerText()), expected.runs[runs[1]].weight[0], "smallest weight");
  near(Number(await card.locator(".max").innerText()), expected.runs[runs[1]].weight[1], "largest weight");
  await page.evaluate(() => scrollTo(0, 0));
  await shot("dashboard");
});

test("runs are chosen, and the address holds the view", async () => {
  await open("#/dashboard");
  await page.waitForSelector(legend("loss/auto", runs[0]));
  await page.locator(".runs label", { hasText: runs[0] }).locator("input").uncheck();
  await page.waitForSelector(legend("loss/auto", runs[0]), { state: "detached" });
  await page.fill("#smoothing", "0.9");
  await page.selectOption("#axis", "relative");
  const shared = page.url();
  const before = await number(legend("loss/auto", runs[1]));
  await open("#/dashboard");
  await page.waitForSelector(legend("loss/auto", runs[0]));
  await page.goto("about:blank");
  await page.goto(shared);
  await page.waitForSelector(legend("loss/auto", runs[1]));
  assert.equal(await page.locator(legend("loss/auto", runs[0])).count(), 0);
  assert.equal(await page.inputValue("#smoothing"), "0.9");
  assert.equal(await page.inputValue("#axis"), "relative");
  assert.equal(await number(legend("loss/auto", runs[1])), before);
});

test("tags are filtered; an extreme among 100,000 values is drawn", async () => {
  await open("#/dashboard?tags=b%3Etag");
  const card = page.locator('section[data-tag="<b>tag</b>"]');
  await card.waitFor();
  assert.equal(await page.locator(".card").count(), 1);
  const answer = await (await page.request.get(`${url}api/scalars?tag=%3Cb%3Etag%3C/b%3E&runs=1,2,3,4,5&columns=300`)).json();
  const [curve] = Object.values(answer.runs);
  assert.equal(Math.max(...curve.max), 1e6);
  await page.check("#log");
  await page.check("#outliers");
  assert.match(page.url(), /log=1/);
  await shot("outlier");
});

test("a chart is exported", async () => {
  await open("#/dashboard?tags=loss");
  await page.waitForSelector(legend("loss/auto", runs[0]));
  for (const [button, ending, content] of [["CSV", "csv", /^run,step,time,mean/], ["SVG", "svg", /^<svg/], ["PNG", "png", /PNG/]]) {
    const [download] = await Promise.all([page.waitForEvent("download"), page.locator('section[data-tag="loss/auto"]').getByText(button, { exact: true }).click()]);
    assert.ok(download.suggestedFilename().endsWith(ending));
    const text = readFileSync(await download.path()).toString("latin1");
    assert.match(text, content);
    if (ending === "csv") {
      const rows = text.trim().split("\n").filter((r) => r.startsWith(runs[0]));
      assert.equal(rows.length, 48);
      near(Number(rows[47].split(",")[3]), expected.runs[runs[0]].loss, "last row");
    }
  }
});

test("pictures follow the slider, histograms change their form", async () => {
  await open("#/dashboard?tags=input_data");
  const card = page.locator('section[data-tag="input_data/auto"]').first();
  await card.locator("img").waitFor();
  assert.equal(await card.locator("output").innerText(), "48");
  const last = await card.locator("img").getAttribute("src");
  await card.locator("input").press("Home");
  assert.equal(await card.locator("output").innerText(), "1");
  assert.notEqual(await card.locator("img").getAttribute("src"), last);
  await page.waitForFunction(() => document.querySelector(".card img").naturalWidth === 64);
  await open("#/dashboard?tags=weight&form=heat");
  await page.locator(".card .max").first().waitFor();
  await shot("histograms");
});

test("texts are texts", async () => {
  await open("#/dashboard?tags=note");
  await page.getByText("<img src=x onerror=alert(1)>").waitFor();
});

test("the graph opens and closes, finds nodes, and shows loops", async () => {
  await open("#/graph");
  await page.locator(".node.group", { hasText: "Net.construct" }).first().focus();
  await page.keyboard.press("Enter");
  await page.locator(".node", { hasText: "conv2d" }).first().waitFor();
  await shot("graph");
  await page.fill("#search", "conv2d");
  assert.ok((await number("#hits")) >= 1);
  await page.locator(".hits button").first().click();
  const facts = page.locator("#node-facts");
  await facts.waitFor();
  assert.match(await facts.locator(".source").innerText(), /record\.py:\d+ in Net\.construct/);
  assert.match(await facts.innerText(), /float32\[16, 6, 8, 8\]/);
  const whole = await page.locator(".crumbs button").first().innerText();
  await page.locator(".crumbs button").first().click();
  await page.locator(".node.group").first().waitFor();
  assert.match(whole, /\d+/);
  await page.fill("#search", "while");
  await page.locator(".hits button", { hasText: "while" }).first().click();
  await page.locator("#node-facts button", { hasText: /^Open/ }).last().click();
  await page.locator(".node", { hasText: "tanh" }).first().waitFor();
  await shot("graph-loop");
  await page.locator(".crumbs button", { hasText: "Back" }).click();
  await page.locator(".node", { hasText: "Net.construct" }).first().waitFor();
});

test("the pipeline shows its steps", async () => {
  await open("#/data");
  const step = page.locator('.step[data-op="batch"]').first();
  await step.waitFor();
  assert.ok(Number(await step.locator(".made").innerText()) >= 16);
  await shot("data");
});

test("a pipeline that runs shows its rates and its queue", async () => {
  const writer = spawn(process.env.MYCEL_PYTHON ?? "python3", ["-c", running, `${folder}/runs/running`], { env: process.env });
  await open("#/data");
  const run = page.locator('section[data-run="running"]');
  const made = async () => Number(await run.locator('.step[data-op="batch"] .made').innerText());
  await run.locator(".queue meter").waitFor({ timeout: 30000 });
  const before = await made();
  await page.waitForFunction((n) => Number(document.querySelector('section[data-run="running"] .made')?.textContent) > n, before, { timeout: 30000 });
  assert.match(await run.locator(".queue").innerText(), /2 threads/);
  // 50 batches a second are read: the rate between two states, not that of making them.
  const rate = Number((await run.locator('.step[data-op="batch"] .facts').innerText()).match(/([\d.]+) rows a second/)[1]);
  assert.ok(rate > 10 && rate < 60, `${rate}`);
  writer.kill();
});
const running = `
import sys, time
import numpy as np
import mycel.dataset as ds
from mycel import _mycel
r = _mycel.insight.Recorder(sys.argv[1], "events", "", 0)
d = ds.NumpySlicesDataset(np.zeros((1000, 8), np.float32), ["x"]).map(lambda x: x + 1, "x", num_parallel_workers=2).batch(10)
r.watch_dataset("train", d._pipeline)
it = d.create_tuple_iterator(num_epochs=-1)
while True:
    for row in it:
        time.sleep(0.02)
`;

test("lineage: sorting, and what goes with the accuracy", async () => {
  await open("#/lineage");
  await page.waitForSelector("#lineage tbody tr");
  await page.locator("#lineage th button", { hasText: /^rate/ }).click();
  await page.locator("#lineage th button", { hasText: /^rate/ }).click();
  const names = await page.locator("#lineage tbody th").allInnerTexts();
  assert.deepEqual(names.filter((n) => n !== "odd" && n !== "running").map((n) => n.trim()), [...runs].sort((a, b) => expected.runs[b].rate - expected.runs[a].rate));
  for (const run of runs) near(await number(`#lineage tr[data-run="${run}"] td[data-column="▸eval/acc"]`), expected.runs[run].acc, run);
  const bars = page.locator('#importance li[data-column="rate"] output');
  const rank = (v) => v.map((x) => v.filter((y) => y < x).length + (v.filter((y) => y === x).length - 1) / 2);
  const [a, b] = [rank(runs.map((r) => expected.runs[r].rate)), rank(runs.map((r) => expected.runs[r].acc))];
  const mean = (v) => v.reduce((s, x) => s + x, 0) / v.length;
  const dot = (u, v) => u.reduce((s, x, i) => s + (x - mean(u)) * (v[i] - mean(v)), 0);
  assert.ok(Math.abs(Number(await bars.innerText()) - (dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b)) || 0)) < 0.006);
  await shot("lineage");
});

test("keys, dark mode, Chinese, problems", async () => {
  await open("#/dashboard");
  await page.waitForSelector(".card");
  await page.keyboard.press("d");
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
  await page.keyboard.press("l");
  await page.getByText("看板").waitFor();
  await page.keyboard.press("4");
  await page.waitForSelector("#lineage tbody tr");
  await shot("lineage-dark-chinese");
  await page.keyboard.press("l");
  await page.keyboard.press("d");
  assert.match(await page.locator("#problems").textContent(), /damaged\.tfevents/);
  await page.keyboard.press("/");
  assert.equal(await page.evaluate(() => document.activeElement.id), "filter");
});

test("new values appear by themselves", async () => {
  await open("#/dashboard?tags=live");
  const writer = spawn(process.env.MYCEL_PYTHON ?? "python3", ["-c", live, `${folder}/runs/live`], { env: process.env });
  let said = "";
  writer.stderr.on("data", (d) => (said += d));
  await page.locator(".runs label", { hasText: "live" }).locator("input").waitFor({ timeout: 30000 }).catch(() => assert.fail(said));
  await page.waitForFunction(() => document.querySelector('section[data-tag="live"] output')?.textContent === "7", null, { timeout: 30000 });
  writer.kill();
});
const live = `
import sys, time
from mycel import _mycel
r = _mycel.insight.Recorder(sys.argv[1], "events", "", 0)
for step in range(8):
    r.scalar("live", float(step), step)
    r.flush()
    time.sleep(0.3)
time.sleep(30)
`;

test("pages keep the rules of accessibility, light and dark", async () => {
  const axe = readFileSync(new URL("../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
  for (const dark of [false, true]) {
    for (const hash of ["#/dashboard", "#/dashboard?tags=input|weight|note|feat", "#/graph", "#/data", "#/lineage"]) {
      await open(hash);
      await page.waitForSelector("main :is(.card, .node, .step, table)");
      if ((await page.evaluate(() => document.documentElement.dataset.theme)) !== (dark ? "dark" : "light")) await page.keyboard.press("d");
      await page.waitForTimeout(500);
      // The page's policy keeps foreign scripts out of its world; the checker runs beside it.
      const found = await page.evaluate(`${axe}; axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"] }).then((r) => r.violations.map((v) => v.id + ": " + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160) + " " + n.failureSummary.slice(0, 300)).join(" | ")))`);
      assert.deepEqual(found, [], `${hash}, ${dark ? "dark" : "light"}`);
    }
  }
  await page.keyboard.press("d");
});

test("an empty folder says what to write", async () => {
  mkdirSync(`${folder}/empty`, { recursive: true });
  const other = spawn(process.env.MYCEL_PROGRAM, ["insight", `${folder}/empty`, "--port", "0", "--database", `${folder}/empty-index`]);
  const address = await new Promise((done) => other.stdout.once("data", (d) => done(String(d).trim())));
  await page.goto(address);
  await page.getByText("SummaryCollector(").waitFor();
  await shot("empty");
  await page.goto("about:blank");
  other.kill("SIGTERM");
});

test("nothing went wrong on the way", () => assert.deepEqual(wrong, []));
