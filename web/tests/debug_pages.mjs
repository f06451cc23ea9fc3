// Clicks through the pages Debugger, Cluster and Explain on runs of web/tests/record_debug.py and reads
// their numbers back. MYCEL_PAGES: the folder; the runs are in its "debug".
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";

const folder = process.env.MYCEL_PAGES;
const runs = `${folder}/debug`;
const expected = JSON.parse(readFileSync(`${runs}/expected_debug.json`));
const shots = `${folder}/screenshots`;
mkdirSync(shots, { recursive: true });
let server, browser, page, url, live;
const wrong = [];

before(async () => {
  server = spawn(process.env.MYCEL_PROGRAM, ["insight", runs, "--port", "0", "--database", `${folder}/debug-index`]);
  url = await new Promise((done) => server.stdout.once("data", (d) => done(String(d).trim())));
  browser = await chromium.launch({ executablePath: process.env.MYCEL_BROWSER, args: ["--no-sandbox"] });
  const context = await browser.newContext({ viewport: { width: 1500, height: 1000 }, acceptDownloads: true, locale: "en-US", colorScheme: "light" });
  page = await context.newPage();
  page.on("pageerror", (e) => wrong.push(e.message));
  // A program that runs may have let go of a step by the time that it is asked for: the page goes on to
  // the next one, and the browser notes the answer by itself.
  page.on("console", (m) => m.type() === "error" && !/status of 404/.test(m.text()) && wrong.push(m.text()));
});
after(async () => {
  live?.kill("SIGKILL"); // where its test has failed
  await browser?.close();
  server?.kill("SIGTERM");
});

const open = async (hash) => {
  await page.goto("about:blank");
  await page.goto(url + hash);
};
const shot = (name) => page.screenshot({ path: `${shots}/${name}.png` });
const text = (where) => page.locator(where).first().innerText();
const number = async (where) => Number(await text(where));
const near = (a, b, what, part = 1e-3) => assert.ok(Math.abs(a - b) <= part * Math.max(1e-6, Math.abs(b)), `${what}: ${a}, not ${b}`);
const pixel = (where, x, y) => page.locator(where).first().evaluate((c, [px, py]) => [...c.getContext("2d").getImageData(px * c.width, py * c.height, 1, 1).data], [x, y]);

test("the planted NaN is found with its op and line", async () => {
  await open("#/debugger?run=planted");
  await page.waitForSelector("#hits li");
  assert.equal(await number("#hit-count"), expected.planted.hits);
  const hit = page.locator(`#hits li[data-condition="operator_overflow"][data-name="${expected.planted.name}"]`).last();
  assert.match(await hit.innerText(), new RegExp(`record_debug\\.py:${expected.planted.line} in Planted\\.construct`));
  await hit.locator("button").click();
  await page.waitForSelector(`#tensor[data-name="${expected.planted.name}"]`);
  assert.equal(await number("#debug-step >> option:checked"), 1);
  const bad = (await number('[data-statistic="nan"] td')) + (await number('[data-statistic="-inf"] td')) + (await number('[data-statistic="inf"] td'));
  assert.equal(bad, expected.planted.bad);
  const here = page.locator("#source .here");
  await here.waitFor();
  assert.equal(Number(await here.getAttribute("data-line")), expected.planted.line);
  assert.match(await here.innerText(), /ops\.log\(y\)/);
  assert.match(await text("#numbers tbody"), /nan|-inf/);
  await page.locator("#inputs button").first().click();
  await page.waitForSelector('#tensor:not([data-name$="log-0"])');
  assert.equal(await number('[data-statistic="nan"] td'), 0);
  await page.goBack().catch(() => {});
  await open(`#/debugger?run=planted&tensor=${encodeURIComponent(expected.planted.name)}&step=1`);
  await page.waitForSelector("#source .here");
  await shot("debugger-planted-nan");
});

test("the tree opens by scope; slices, and the step before", async () => {
  await open("#/debugger?run=planted&step=2");
  await page.locator(".scope", { hasText: /Parameters/ }).click();
  await page.locator('.leaf[data-name="Parameters/conv.weight"] button').click();
  await page.waitForSelector('#tensor[data-name="Parameters/conv.weight"]');
  assert.match(await text("#tensor .facts"), /float32\[6, 1, 3, 3\]/);
  assert.equal(await page.locator("#statistics thead th").count(), 3);
  await page.fill("#slice", "2,0,:,:");
  await page.press("#slice", "Enter");
  await page.waitForFunction(() => document.querySelectorAll("#numbers tbody tr").length === 3);
  assert.match(page.url(), /slice=2%2C0/);
  await page.fill("#slice", "9,0,:,:");
  await page.press("#slice", "Enter");
  await page.getByText("outside of dim").waitFor();
  wrong.splice(0); // the browser's console tells of refused requests
  await page.fill("#search-tensors", "relu");
  await page.waitForFunction(() => Number(document.querySelector("#found")?.textContent) > 0);
  await page.fill("#search-tensors", "");
  await page.selectOption("#role", "gradient");
  await page.waitForFunction(() => document.querySelector("#found")?.textContent === "3");
});

test("a vanishing gradient; watchpoints are checked on the dump", async () => {
  await open("#/debugger?run=vanishing");
  await page.waitForSelector("#hits li");
  const names = await page.locator("#hits li").evaluateAll((l) => [...new Set(l.map((x) => x.dataset.name))].sort());
  assert.deepEqual(names, expected.vanishing);
  await page.locator('#hits li[data-name="ParameterGradients/layers.0.weight"] button').first().click();
  await page.waitForSelector("#source .here");
  assert.match(await text("#source .source"), /in Deep\.construct/);
  await shot("debugger-vanishing");
  await page.click("#add-watchpoint");
  await page.selectOption("#condition", "weight_change_too_small");
  await page.fill('.watch-form input[name="abs_mean_update_ratio_lt"]', "1e-6");
  await page.fill('.watch-form input[name="scopes"]', "layers.*");
  await shot("debugger-watchpoint-form");
  await page.click("#save-watchpoint");
  await page.click("#check-dump");
  await page.waitForSelector('#hits li[data-condition="weight_change_too_small"]');
  const found = await page.locator('#hits li[data-condition="weight_change_too_small"]').evaluateAll((l) => l.map((x) => x.dataset.name));
  assert.ok(found.includes("Parameters/layers.0.weight") && !found.some((n) => n.includes("last")), found.join());
  await page.locator('[data-watchpoint="gradient_vanishing"] button', { hasText: "×" }).click();
  await page.click("#check-dump");
  await page.waitForFunction(() => !document.querySelector('#hits li[data-condition="gradient_vanishing"]'));
});

test("a run that goes on is stopped, stepped and let go", async () => {
  live = spawn(process.env.MYCEL_PYTHON ?? "python3", [new URL("./record_debug.py", import.meta.url).pathname, `${runs}/live`, "live"], { env: process.env });
  let said = "";
  live.stderr.on("data", (d) => (said += d));
  const ended = new Promise((done) => live.on("exit", done));
  await open("#/debugger?run=live");
  const waits = (what) =>
    page.waitForFunction((w) => document.querySelector("#run-state")?.textContent?.startsWith("waits") && document.querySelector("#run-state").textContent.includes(w), what, { timeout: 60000 });
  await waits("before the first step").catch((e) => assert.fail(said + e));
  await page.keyboard.press("n");
  await page.locator(".tree-scroll li").first().waitFor({ timeout: 8000 }).catch(async (e) => {
    await shot("failed-live");
    assert.fail(`${e} ${await text("#run-state")} ${said}`);
  });
  await page.fill("#until", "Planted/relu");
  await page.click("#go-node");
  await waits("after a node");
  await page.locator(".scope", { hasText: "Planted" }).click();
  await page.locator(".scope", { hasText: /^▸ relu/ }).click();
  await page.locator(".leaf button", { hasText: "relu" }).first().click();
  await page.waitForSelector('#tensor[data-name*="relu"]');
  assert.match(await text("#tensor .facts"), /activation/);
  await shot("debugger-live");
  await page.click("#go-on"); // to the logarithm
  await waits("at a hit");
  assert.equal(await page.locator('#hits li[data-name="Planted/log-0"]').count(), 1);
  await page.locator('[data-watchpoint="operator_overflow"] input').click();
  await page.waitForFunction(() => !document.querySelector('[data-watchpoint="operator_overflow"] input').checked);
  await page.locator("h1").click();
  await page.keyboard.press("s");
  await waits("after a step");
  await page.keyboard.press("s");
  await page.waitForFunction(() => document.querySelector("#run-state").textContent.match(/^waits: step 2/i));
  await page.click("#add-watchpoint");
  await page.selectOption("#condition", "loss_overflow");
  await page.click("#save-watchpoint");
  await page.waitForSelector('[data-watchpoint="loss_overflow"]');
  await page.click("#go-on");
  await page.waitForSelector('#hits li[data-condition="loss_overflow"]');
  await waits("at a hit");
  await page.locator('[data-watchpoint="loss_overflow"] button', { hasText: "×" }).click();
  await page.waitForSelector('[data-watchpoint="loss_overflow"]', { state: "detached" });
  await page.click("#go-on");
  assert.equal(await Promise.race([ended, new Promise((done) => setTimeout(done, 60000, "it does not end"))]), 0, said);
  await page.waitForFunction(() => document.querySelector("#run-state")?.textContent === "ended", null, { timeout: 20000 });
  await page.getByText("dump_plan").first().waitFor();
});

test("1,024 ranks: slow nodes, the slow link, memory", async () => {
  await open("#/cluster?run=cluster");
  await page.waitForFunction(() => document.querySelector("#ranks")?.textContent === "1024" && !document.querySelector(".cluster [role=status]"));
  const advice = page.locator("#advice li");
  assert.equal(await advice.first().getAttribute("data-kind"), "slow_host");
  assert.equal(await advice.first().getAttribute("data-host"), "node037");
  assert.ok(await page.locator('#advice li[data-kind="slow_link"][data-rank="200"]').count());
  assert.ok(await page.locator('#advice li[data-kind="memory"][data-rank="900"]').count());
  const top = await page.locator("#rank-table tbody tr").evaluateAll((l) => l.slice(0, 8).map((x) => Number(x.dataset.rank)));
  assert.deepEqual(top, expected.cluster.slow);
  near(parseInt(await text("#share-compute")), 100 * expected.cluster.share, "share of computing", 0.02);
  assert.match(await text("#link-table tbody tr"), /send\s+200\s+201/);
  // The row of rank 900 is the brightest of the heat map.
  const bright = await pixel(".memory", 0.99, 900.5 / 1024);
  const usual = await pixel(".memory", 0.99, 0.5);
  assert.ok(bright[0] > usual[0] + 50, `${bright} ${usual}`);
  await shot("cluster");
  await page.locator("#rank-table button", { hasText: "Peak memory" }).click();
  await page.waitForFunction(() => document.querySelector("#rank-table tbody tr").dataset.rank === "900");
  const begun = Date.now();
  for (let i = 0; i < 20; i++) {
    await page.mouse.move(400 + 20 * i, 500);
    await page.evaluate(() => new Promise(requestAnimationFrame));
  }
  assert.ok(Date.now() - begun < 20000); // no freeze
  const answer = await page.request.get(`${url}api/cluster?run=${await page.evaluate(async () => (await (await fetch("api/runs")).json()).find((r) => r.name === "cluster").id)}`);
  assert.ok((await answer.body()).length < 300_000);
});

test("explanations: overlays, filters, counterfactuals, scores", async () => {
  await open("#/explain?run=explained");
  await page.waitForSelector(".sample canvas[data-drawn]");
  assert.equal(await number("#samples"), expected.explain.count);
  assert.equal(await number("#right"), expected.explain.right);
  const plain = await pixel(".sample canvas", 0.5, 0.5);
  await page.locator("#overlay").fill("0");
  await page.waitForFunction((was) => {
    const c = document.querySelector(".sample canvas");
    return String([...c.getContext("2d").getImageData(0.5 * c.width, 0.5 * c.height, 1, 1).data]) !== String(was);
  }, plain);
  const grey = await pixel(".sample canvas", 0.5, 0.5);
  assert.ok(Math.abs(grey[0] - grey[1]) < 2 && Math.abs(grey[1] - grey[2]) < 2, String(grey));
  await page.locator("#overlay").fill("0.7");
  await page.selectOption("#method", "Gradient×Input");
  await page.waitForTimeout(300);
  await shot("explain-saliency");
  await page.selectOption("#which", "wrong");
  await page.waitForFunction((n) => document.querySelector("#fitting").textContent === String(n), expected.explain.wrong);
  await page.selectOption("#which", "");
  await page.locator('.sample[data-sample="0"] button', { hasText: "Counterfactuals" }).click();
  await page.waitForSelector('.counterfactual[data-sample="0"]');
  const steps = page.locator('.counterfactual[data-sample="0"]').last().locator("li");
  assert.equal(await steps.count(), 7);
  near(Number(await steps.last().locator("output").innerText()), expected.counterfactual.last, "probability", 1e-3);
  await page.waitForFunction(() => [...document.querySelectorAll(".counterfactual img")].every((i) => i.naturalWidth === 8));
  await shot("explain-counterfactual");
  await page.click("#part-scores");
  for (const [method, value] of Object.entries(expected.explain.scores))
    near(parseFloat(await text(`table[data-class="-1"] tr[data-method="${method}"] td[data-metric="Faithfulness"]`)), value, method);
  await shot("explain-scores");
});

test("in Chinese and in the dark", async () => {
  await open("#/debugger?run=planted");
  await page.waitForSelector("#hits li");
  await page.keyboard.press("l");
  await page.keyboard.press("d");
  await page.getByText("监测点").first().waitFor();
  await page.click("#add-watchpoint");
  await page.getByText("存在 NaN 或无穷大元素").first().waitFor();
  await shot("debugger-dark-chinese");
  await page.keyboard.press("Escape");
  await open("#/cluster?run=cluster");
  await page.getByText("主机 node037").first().waitFor();
  await page.keyboard.press("l");
  await page.keyboard.press("d");
});

test("these pages keep the rules of accessibility, light and dark", async () => {
  const axe = readFileSync(new URL("../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
  for (const dark of [false, true]) {
    for (const [hash, there] of [
      [`#/debugger?run=planted&step=1&tensor=${encodeURIComponent(expected.planted.name)}`, "#source .here"],
      ["#/cluster?run=cluster", "#rank-table tbody tr"],
      ["#/explain?run=explained", ".sample canvas[data-drawn]"],
      ["#/explain?run=explained&part=counterfactuals&sample=0", ".counterfactual"],
      ["#/explain?run=explained&part=scores", ".scores"],
    ]) {
      await open(hash);
      await page.waitForSelector(there);
      if (hash.startsWith("#/debugger")) await page.click("#add-watchpoint");
      if ((await page.evaluate(() => document.documentElement.dataset.theme)) !== (dark ? "dark" : "light")) await page.locator(".top .tools button").nth(1).click();
      await page.waitForTimeout(300);
      const found = await page.evaluate(`${axe}; axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"] }).then((r) => r.violations.map((v) => v.id + ": " + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160) + " " + n.failureSummary.slice(0, 300)).join(" | ")))`);
      assert.deepEqual(found, [], `${hash}, ${dark ? "dark" : "light"}`);
    }
  }
});

test("empty pages say what to write", async () => {
  for (const [hash, code] of [
    ["#/debugger?runs=cluster", "Debugger("],
    ["#/cluster?runs=planted", "ClusterRecord("],
    ["#/explain?runs=planted", "ExplainRecord("],
  ]) {
    await open(hash);
    await page.locator(".empty code", { hasText: code }).waitFor();
  }
});

test("nothing went wrong on the way", () => assert.deepEqual(wrong, []));
