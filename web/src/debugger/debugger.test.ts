import { expect, test } from "vitest";
import { bytes, percent, sentence } from "../cluster/words";
import { tint } from "../explain/overlay";
import { speak } from "../state";
import { place, scopesOf } from "./api";
import { w } from "./words";

test("a line of the user's program is a file and a number", () => {
  expect(place("net.py:41 in Net.construct")).toEqual({ path: "net.py", line: 41 });
  expect(place("C:/a b/net.py:7")).toEqual({ path: "C:/a b/net.py", line: 7 });
  expect(place("")).toBeNull();
  expect(place("<stdin>")).toBeNull();
});

test("scopes are what stands between commas", () => {
  expect(scopesOf(" Net/fc1, fc2.weight ,,")).toEqual(["Net/fc1", "fc2.weight"]);
  expect(scopesOf("")).toEqual([]);
});

test("sizes and shares are short", () => {
  expect(bytes(0)).toBe("0 B");
  expect(bytes(1536)).toBe("1.5 KiB");
  expect(bytes(62 * 2 ** 30)).toBe("62 GiB");
  expect(percent(0.347)).toBe("35 %");
});

test("findings are sentences in both languages", () => {
  const found = { kind: "slow_link", rank: 7, peer: 8, collective: "send", share: 0.3 };
  for (const [language, word] of [["en", "bandwidth"], ["zh", "带宽"]] as const) {
    (globalThis as { document?: unknown }).document = { documentElement: {} };
    speak(language);
    const text = sentence(found);
    expect(text).toContain(word);
    expect(text).toContain("30 %");
    expect(text).not.toMatch(/[{}]/);
  }
  speak("en");
  expect(w("hits")).toBe("Hits");
});

test("a saliency map lets through what hardly counts", () => {
  const pixels = new Uint8ClampedArray([0, 0, 0, 255, 255, 255, 255, 255]);
  tint(pixels, 0.8);
  expect([...pixels.slice(0, 3)]).toEqual([68, 1, 84]);
  expect([...pixels.slice(4, 7)]).toEqual([253, 231, 37]);
  expect(pixels[3]).toBeLessThan(pixels[7]);
  expect(pixels[7]).toBe(204);
});
