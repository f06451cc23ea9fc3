// The Profiler page, and the Graph page on a large graph, in a real browser on what record_profile.py has
// made: clicks, and reads numbers back.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";

const folder = process.env.MYCEL_PAGES;
const expected = JSON.parse(readFileSync(`${folder}/profiles/expected.json`));
const shots = `${folder}/screenshots`;
mkdirSync(shots, { recursive: true });
let server, browser, page, url;
const wrong = [];

before(async () => {
  server = spawn(process.env.MYCEL_PROGRAM, ["insight", `${folder}/profiles`, "--port", "0", "--database", `${folder}/profiles-index`]);
  url = await new Promise((done) => server.stdout.once("data", (d) => done(String(d).trim())));
  browser = await chromium.launch({ executablePath: process.env.MYCEL_BROWSER, args: ["--no-sandbox"] });
  const context = await browser.newContext({ viewport: { width: 1400, height: 950 }, acceptDownloads: true, locale: "en-US", colorScheme: "light" });
  page = await context.newPage();
  page.on("pageerror", (e) => wrong.push(e.message));
  page.on("console", (m) => m.type() === "error" && wrong.push(m.text()));
});
after(async () => {
  await browser?.close();
  server?.kill("SIGTERM");
});

const open = async (hash) => {
  await page.goto("about:blank");
  await page.goto(url + hash);
};
const shot = (name, options = {}) => page.screenshot({ path: `${shots}/${name}.png`, ...options });
const fileOf = (run) => `${run}/${expected[run].file}`;
const profile = (run) => `#/profiler?profile=${encodeURIComponent(fileOf(run))}`;
const texts = (where) => page.locator(where).allInnerTexts();
// "1.234 ms" in seconds.
const seconds = (text) => {
  const [v, unit] = text.trim().split(" ");
  return Number(v) * { s: 1, ms: 1e-3, µs: 1e-6, ns: 1e-9 }[unit];
};

test("the page shows a compiled training", async () => {
  await open(profile("lenet"));
  await page.waitForSelector("#steps [data-step]");
  assert.equal(await page.locator("#steps [data-step]").count(), expected.lenet.steps);
  const parts = await page.locator(".parts li").evaluateAll((all) => all.map((li) => [li.dataset.part, li.querySelector("output").innerText]));
  for (const part of ["data", "forward", "backward", "update"]) assert.ok(parts.some(([p]) => p === part), `no part ${part}`);
  // Rows of the table of ops, the one of what is not attributed among them, make up the time that passed.
  const ops = await texts('#ops td[data-column="time"]');
  const sum = ops.map(seconds).reduce((a, b) => a + b, 0);
  assert.ok(Math.abs(sum - expected.lenet.seconds) < 0.05 * expected.lenet.seconds, `ops take ${sum} s of ${expected.lenet.seconds}`);
  assert.ok((await texts("#ops td[data-column=op]")).includes("not attributed"));
  assert.ok((await page.locator("#roofline circle").count()) > 5);
  assert.ok((await page.locator('#threads tr[data-thread="main"]').count()) === 1);
  await page.waitForFunction(() => Number(document.querySelector("#timeline").dataset.drawn) > 100);
  await shot("profiler");
  await shot("profiler-whole", { fullPage: true });
});

test("tables sort, filter and keep their order in the address", async () => {
  await open(profile("lenet"));
  await page.waitForSelector("#kernels tbody tr");
  const times = async () => (await texts('#kernels td[data-column="time"]')).map(seconds);
  const falling = await times();
  assert.deepEqual(falling, [...falling].sort((a, b) => b - a));
  await page.locator("#kernels thead button", { hasText: /^runs/ }).click();
  await page.locator("#kernels thead button", { hasText: /^runs/ }).click();
  const runs = (await texts('#kernels td[data-column="runs"]')).map(Number);
  assert.deepEqual(runs, [...runs].sort((a, b) => a - b));
  assert.match(page.url(), /kernelssort=runs/);
  await page.locator("#kernel-filter").fill("conv");
  const names = await texts('#kernels td[data-column="op"]');
  const types = await texts('#kernels td[data-column="types"]');
  assert.ok(names.length > 2);
  assert.ok(names.every((n, i) => `${n} ${types[i]}`.includes("conv") || n));
  const [download] = await Promise.all([page.waitForEvent("download"), page.locator("section", { hasText: /^Kernels/ }).getByText("CSV").click()]);
  assert.match(readFileSync(await download.path(), "utf8"), /^op,phase,runs,time/);
});

test("the timeline zooms, moves and finds", async () => {
  await open(profile("lenet"));
  await page.waitForFunction(() => Number(document.querySelector("#timeline")?.dataset.drawn) > 100);
  const canvas = page.locator("#timeline");
  await canvas.scrollIntoViewIfNeeded();
  const window = () => page.locator("#window").innerText();
  const whole = await window();
  const box = await canvas.boundingBox();
  await page.mouse.move(box.x + box.width * 0.6, box.y + 40);
  for (let i = 0; i < 12; i++) await page.mouse.wheel(0, -100);
  await page.waitForTimeout(400);
  const zoomed = await window();
  assert.notEqual(zoomed, whole);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.3, box.y + 40, { steps: 4 });
  await page.mouse.up();
  await page.waitForTimeout(300);
  assert.notEqual(await window(), zoomed);
  await page.mouse.click(box.x + box.width * 0.4, box.y + 18 + 8);
  await page.waitForFunction(() => document.querySelector("#slice").innerText.length > 5);
  await shot("profiler-timeline");
  await page.locator("#find-slice").fill("conv_dw");
  await page.waitForSelector("#slice-hits");
  await page.waitForFunction(() => Number(document.querySelector("#slice-hits").innerText) > 0);
  assert.equal(Number(await page.locator("#slice-hits").innerText()) % expected.lenet.steps, 0);
  await shot("profiler-find");
  await canvas.focus();
  await page.keyboard.press("0");
  await page.waitForTimeout(200);
  assert.equal(await window(), whole);
  const ms = Number(await canvas.getAttribute("data-draw-ms"));
  assert.ok(ms < 50, `a frame took ${ms} ms`);
  console.log(`timeline: ${await canvas.getAttribute("data-drawn")} slices drawn in ${ms} ms`);
});

test("memory at the peak adds up", async () => {
  await open(profile("lenet"));
  await page.waitForSelector("#alive tbody tr");
  const bytes = (text) => {
    const [v, unit] = text.trim().split(" ");
    return Number(v) * { B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 }[unit];
  };
  const sum = (await texts('#alive td[data-column="size"]')).map(bytes).reduce((a, b) => a + b, 0);
  const peak = bytes(await page.locator("#peak").innerText());
  assert.ok(Math.abs(sum - peak) < 0.02 * peak, `${sum} of ${peak}`);
  assert.ok((await texts('#alive td[data-column="in"]')).some((p) => p.startsWith("arena of")));
  await page.locator("#memory").scrollIntoViewIfNeeded();
  await shot("profiler-memory");
});

test("advice names what waits for its data, in both languages", async () => {
  await open(profile("waits"));
  await page.waitForSelector('[data-rule="input_bound"]');
  assert.match(await page.locator('[data-rule="input_bound"]').innerText(), /wait for data/);
  assert.ok((await texts("#data li")).length > 1);
  await page.keyboard.press("l");
  assert.match(await page.locator('[data-rule="input_bound"]').innerText(), /等待数据/);
  await shot("profiler-chinese");
  await page.keyboard.press("l");
});

test("the trace opens elsewhere", async () => {
  await open(profile("lenet"));
  const [download] = await Promise.all([page.waitForEvent("download"), page.locator("#trace").click()]);
  const trace = JSON.parse(readFileSync(await download.path(), "utf8"));
  assert.ok(trace.traceEvents.filter((e) => e.ph === "X").length > 1000);
  for (const e of trace.traceEvents) {
    assert.ok(["X", "M", "C"].includes(e.ph) && Number.isInteger(e.pid));
    if (e.ph === "X") assert.ok(Number.isFinite(e.ts) && e.dur >= 0 && Number.isInteger(e.tid) && typeof e.name === "string");
  }
});

test("a graph before and after its passes", async () => {
  await open("#/graph?runs=lenet");
  await page.waitForSelector("#pass");
  await page.waitForSelector(".node");
  const count = async () => Number((await page.locator(".crumbs small").first().innerText()).trim());
  const before = await count();
  const options = await page.locator("#pass option").evaluateAll((all) => all.map((o) => o.value));
  await page.locator("#pass").selectOption(options.at(-1));
  await page.waitForFunction((n) => Number(document.querySelector(".crumbs small")?.innerText) !== n, before);
  const after = await count();
  assert.ok(after < before, `${before} nodes, then ${after}`);
  assert.ok((await page.locator("#pass-changes li").count()) > 0);
  await page.locator("#pass-changes summary").click();
  await shot("graph-passes");
});

test("a graph of 10,000 nodes is smooth", async () => {
  const begun = Date.now();
  await open("#/graph?runs=long");
  await page.waitForSelector(".node");
  const shown = Date.now() - begun;
  assert.ok(Number(await page.locator(".crumbs small").first().innerText()) > 10000);
  const opened = [];
  for (let i = 0; i < 4; i++) {
    const group = page.locator(".node.group").last();
    if (!(await group.count())) break;
    const at = Date.now();
    const crumbs = await page.locator(".crumbs button").count();
    await group.click({ force: true });
    await page.waitForFunction((n) => document.querySelectorAll(".crumbs button").length > n && document.querySelector(".node"), crumbs);
    opened.push(Date.now() - at);
  }
  const at = Date.now();
  await page.locator("#search").fill("reduce_max");
  await page.waitForFunction(() => Number(document.querySelector("#hits")?.innerText) >= 2600);
  const found = Date.now() - at;
  // The longest pause of the page's own thread while it is zoomed and moved.
  const box = await page.locator(".canvas svg").boundingBox();
  await page.evaluate(() => {
    window.longest = 0;
    let last = performance.now();
    const tick = () => {
      const now = performance.now();
      window.longest = Math.max(window.longest, now - last);
      last = now;
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  });
  await page.mouse.move(box.x + box.width / 2, box.y + 100);
  for (let i = 0; i < 10; i++) await page.mouse.wheel(0, i % 2 ? 80 : -100);
  const longest = await page.evaluate(() => window.longest);
  await shot("graph-large");
  console.log(`10,000 nodes: first view ${shown} ms, groups opened in ${opened.join(", ")} ms, search ${found} ms, longest frame ${longest.toFixed(0)} ms`);
  assert.ok(opened.length > 0);
});

test("the page keeps the rules of accessibility, light and dark", async () => {
  const axe = readFileSync(new URL("../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
  for (const dark of [false, true]) {
    for (const hash of [profile("lenet"), profile("waits"), "#/graph?runs=lenet&pass=1"]) {
      await open(hash);
      await page.waitForSelector("main :is(.card, .node)");
      if ((await page.evaluate(() => document.documentElement.dataset.theme)) !== (dark ? "dark" : "light")) await page.keyboard.press("d");
      await page.waitForTimeout(500);
      const found = await page.evaluate(`${axe}; axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"] }).then((r) => r.violations.map((v) => v.id + ": " + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160) + " " + n.failureSummary.slice(0, 300)).join(" | ")))`);
      assert.deepEqual(found, [], `${hash}, ${dark ? "dark" : "light"}`);
    }
    if (dark) {
      await open(profile("lenet"));
      await page.waitForFunction(() => Number(document.querySelector("#timeline")?.dataset.drawn) > 100);
      await shot("profiler-dark");
    }
  }
  await page.keyboard.press("d");
});

test("nothing went wrong on the way", () => assert.deepEqual(wrong, []));
