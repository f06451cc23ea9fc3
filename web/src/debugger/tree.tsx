// Tensors of a step as a tree of scopes, fetched a scope at a time; and a search over all of them.
import { useEffect, useState } from "preact/hooks";
import { ask } from "../api";
import type { Entry, Tree } from "./api";
import { roleWord, w } from "./words";

interface Given {
  run: number;
  step: number;
  version: number;
  chosen: string;
  choose: (name: string) => void;
}

function useTree(args: Record<string, string | number>, version: number): Tree | null {
  const [found, setFound] = useState<Tree | null>(null);
  useEffect(() => {
    let old = false;
    ask<Tree>("debugtree", args).then((a) => !old && setFound(a), () => !old && setFound(null));
    return () => {
      old = true;
    };
  }, [JSON.stringify(args), version]);
  return found;
}

function Leaf({ e, chosen, choose }: { e: Entry; chosen: string; choose: (name: string) => void }) {
  const last = e.name.slice(e.name.lastIndexOf("/") + 1);
  return (
    <li class={`leaf ${e.name === chosen ? "chosen" : ""}`} data-name={e.name}>
      <button class="link" aria-current={e.name === chosen ? "true" : undefined} title={e.name} onClick={() => choose(e.name)}>
        {last} {(e.not_finite ?? 0) > 0 && <em>NaN/∞</em>}
      </button>
      <small>
        {e.role !== "tensor" && `${roleWord(e.role)} `}
        {e.dtype}[{e.shape.join(", ")}]
      </small>
    </li>
  );
}

function Scope({ scope, name, count, ...given }: Given & { scope: string; name: string; count: number }) {
  const inside = given.chosen.startsWith(`${scope}/`);
  const [open, setOpen] = useState(inside);
  useEffect(() => {
    if (inside) setOpen(true);
  }, [inside]);
  return (
    <li>
      <button class="link scope" aria-expanded={open} onClick={() => setOpen(!open)}>
        {open ? "▾" : "▸"} {name} <small>{count}</small>
      </button>
      {open && <Level scope={scope} {...given} />}
    </li>
  );
}

function Level({ scope, ...given }: Given & { scope: string }) {
  const tree = useTree({ run: given.run, step: given.step, scope }, given.version);
  if (!tree) return null;
  return (
    <ul class="level">
      {tree.groups?.map((g) => (
        <Scope key={g.name} {...given} scope={scope ? `${scope}/${g.name}` : g.name} name={g.name} count={g.count} />
      ))}
      {tree.entries.map((e) => (
        <Leaf key={e.name} e={e} chosen={given.chosen} choose={given.choose} />
      ))}
      {tree.count > tree.entries.length && (
        <li>
          {tree.count - tree.entries.length} {w("more")}
        </li>
      )}
    </ul>
  );
}

function Found({ text, role, ...given }: Given & { text: string; role: string }) {
  const args: Record<string, string | number> = { run: given.run, step: given.step, text };
  if (role) args.role = role;
  const tree = useTree(args, given.version);
  return (
    <>
      <p class="hint">
        <output id="found">{tree?.count ?? 0}</output>
      </p>
      <ul>{tree?.entries.map((e) => <Leaf key={e.name} e={e} chosen={given.chosen} choose={given.choose} />)}</ul>
    </>
  );
}

export function TensorTree(given: Given & { text: string; role: string; set: (changes: Record<string, string>) => void }) {
  const { text, role, set, ...rest } = given;
  return (
    <div class="tree">
      <label>
        <span class="hidden">{w("search")}</span>
        <input id="search-tensors" type="search" placeholder={w("search")} value={text} onInput={(e) => set({ text: e.currentTarget.value })} />
      </label>
      <select aria-label={w("role")} id="role" value={role} onChange={(e) => set({ role: e.currentTarget.value })}>
        <option value="">{w("allRoles")}</option>
        {["weight", "gradient", "activation", "loss", "state", "tensor"].map((r) => (
          <option key={r} value={r}>
            {roleWord(r)}
          </option>
        ))}
      </select>
      <div class="tree-scroll">{text || role ? <Found {...rest} text={text} role={role} /> : <Level {...rest} scope="" />}</div>
    </div>
  );
}
