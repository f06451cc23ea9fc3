// Watchpoints: their list, the form that each condition's record gives, and the hits.
import { useState } from "preact/hooks";
import { short } from "../numbers";
import { spoken } from "../state";
import { scopesOf, type Condition, type Hit, type Watchpoint } from "./api";
import { roleWord, w } from "./words";

const docOf = (c: Condition) => (spoken() === "zh" ? c.chinese : c.doc);

export function WatchForm({ conditions, start, done, cancel }: { conditions: Condition[]; start: Watchpoint | null; done: (w: Partial<Watchpoint>) => void; cancel: () => void }) {
  const [name, setName] = useState(start?.condition ?? "tensor_overflow");
  const [given, setGiven] = useState<Record<string, string>>(Object.fromEntries(Object.entries(start?.parameters ?? {}).map(([k, v]) => [k, String(v)])));
  const [scopes, setScopes] = useState((start?.scopes ?? []).join(", "));
  const [pauses, setPauses] = useState(start?.pauses ?? true);
  const record = conditions.find((c) => c.name === name);
  const roles = [...new Set(conditions.map((c) => c.role))];
  const submit = (e: Event) => {
    e.preventDefault();
    const parameters: Record<string, number> = {};
    for (const [k, v] of Object.entries(given)) {
      if (v.trim() !== "" && Number.isFinite(Number(v))) parameters[k] = Number(v);
    }
    done({ ...(start ? { id: start.id } : {}), condition: name, parameters, scopes: scopesOf(scopes), pauses });
  };
  return (
    <form class="watch-form card" onSubmit={submit} aria-label={w("watchpoints")}>
      <label>
        {w("condition")}
        <select id="condition" value={name} onChange={(e) => (setName(e.currentTarget.value), setGiven({}))}>
          {roles.map((role) => (
            <optgroup key={role} label={roleWord(role)}>
              {conditions
                .filter((c) => c.role === role)
                .map((c) => (
                  <option key={c.name} value={c.name}>
                    {c.name}
                  </option>
                ))}
            </optgroup>
          ))}
        </select>
      </label>
      {record && <p class="hint">{docOf(record)}</p>}
      {record?.parameters.map((p) => (
        <label key={p.name} title={p.doc}>
          {p.name} {p.unit && <small>{p.unit}</small>}
          <input
            name={p.name}
            inputMode="decimal"
            value={given[p.name] ?? ""}
            placeholder={p.set ? String(p.default) : "–"}
            onInput={(e) => setGiven({ ...given, [p.name]: e.currentTarget.value })}
          />
          <small>{p.doc}</small>
        </label>
      ))}
      <label>
        {w("scopes")}
        <input name="scopes" value={scopes} onInput={(e) => setScopes(e.currentTarget.value)} />
      </label>
      <label class="line">
        <input type="checkbox" checked={pauses} onChange={(e) => setPauses(e.currentTarget.checked)} /> {w("stops")}
      </label>
      <p>
        <button type="submit" id="save-watchpoint">
          {start ? w("save") : w("add")}
        </button>{" "}
        <button type="button" onClick={cancel}>
          {w("cancel")}
        </button>
      </p>
    </form>
  );
}

export function WatchList({ list, conditions, change, edit, remove }: { list: Watchpoint[]; conditions: Condition[]; change: (w: Watchpoint) => void; edit: (w: Watchpoint) => void; remove: (w: Watchpoint) => void }) {
  return (
    <ul class="watchpoints">
      {list.map((p) => {
        const record = conditions.find((c) => c.name === p.condition);
        const given = Object.entries(p.parameters).map(([k, v]) => `${k} ${short(v)}`);
        return (
          <li key={p.id} data-watchpoint={p.condition}>
            <label class="line" title={record && docOf(record)}>
              <input type="checkbox" checked={p.on} aria-label={`${p.condition}: ${w("on")}`} onChange={() => change({ ...p, on: !p.on })} />
              <strong>{p.condition}</strong>
            </label>
            <small>{[...given, ...p.scopes].join(", ")}</small>
            <span class="tools">
              <button onClick={() => edit(p)} aria-label={`${w("edit")} ${p.condition}`}>
                {w("edit")}
              </button>
              <button onClick={() => remove(p)} aria-label={`${w("remove")} ${p.condition}`}>
                ×
              </button>
            </span>
          </li>
        );
      })}
    </ul>
  );
}

export function Hits({ hits, chosen, open }: { hits: Hit[]; chosen: string; open: (h: Hit) => void }) {
  const most = 100;
  if (!hits.length) return <p class="hint">{w("noHits")}</p>;
  return (
    <ol class="hit-list" id="hits">
      {[...hits]
        .reverse()
        .slice(0, most)
        .map((h, i) => (
          <li key={`${h.step} ${h.order} ${h.watchpoint} ${i}`} data-condition={h.condition} data-name={h.name} class={h.name === chosen ? "chosen" : ""}>
            <button class="link" onClick={() => open(h)}>
              {h.step} · <strong>{h.condition}</strong> · {h.name}
            </button>
            <small>
              {h.at} {h.findings.map((f) => (f.parameter ? `${f.parameter} ${short(f.threshold)}, ${w("measured")} ${typeof f.measured === "number" ? short(f.measured) : f.measured}` : `${w("measured")} ${f.measured}`)).join("; ")}
            </small>
          </li>
        ))}
    </ol>
  );
}
