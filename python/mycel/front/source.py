"""The syntax tree of a function: found by its code object, parsed and analysed once."""

import ast
import linecache
import os
import sysconfig

from mycel._where import PACKAGE
from mycel.front.patterns import IfChains, bound_names

_files = {}  # filename -> (lines, {(first line, name): [nodes]}, {line: [lambdas]})
_sources = {}  # id of a code object -> (the code object, Source or None)


class Source:
    """One function's tree with what is known about it before it runs."""

    def __init__(self, node, filename, name, lines, first_line):
        self.node, self.filename, self.name = node, filename, name
        self.lines, self.first_line = lines, first_line
        self.is_lambda = isinstance(node, ast.Lambda)
        self.args = node.args
        names = Names(node)
        self.locals = frozenset(names.local)
        self.nonlocals = frozenset(names.outer)
        self.globals = frozenset(names.globals)
        self.is_generator = names.yields
        self._loads = {}
        self._marked = False

    def loads_in(self, node):
        """How often each name is read below a node."""
        found = self._loads.get(node)
        if found is None:
            found = self._loads[node] = _count_loads(node)
        return found

    def read_by_inner(self, name):
        """Whether a function inside this one reads the name."""
        return name in _nested_loads(self)

    def live_after(self, node):
        """A test for names: whether one may be read after the statement `node` has run."""
        if not self._marked:
            _mark_loops(self.node, None, False)
            self._marked = True
        total, here = self.loads_in(self.node), self.loads_in(node)
        loop = getattr(node, "_loop", None)
        around = self.loads_in(loop) if loop is not None else {}
        nested = _nested_loads(self)
        return lambda name: (
            total.get(name, 0) > here.get(name, 0) or name in around or name in nested
        )


def _count_loads(node):
    found = {}
    for n in ast.walk(node):
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load):
            found[n.id] = found.get(n.id, 0) + 1
        elif isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name):
            found[n.target.id] = found.get(n.target.id, 0) + 1
    return found


def _nested_loads(source):
    found = source._loads.get("nested")
    if found is None:
        found = set()
        for n in ast.walk(source.node):
            inner = (ast.FunctionDef, ast.Lambda, ast.GeneratorExp)
            if n is not source.node and isinstance(n, inner):
                found.update(source.loads_in(n))
        source._loads["nested"] = found
    return found


def _mark_loops(node, loop, skip):
    for child in ast.iter_child_nodes(node):
        child._loop = loop
        inside = child if loop is None and isinstance(child, (ast.For, ast.While)) else loop
        _mark_loops(child, inside, skip)


class Names(ast.NodeVisitor):
    """Names that a function's own body binds."""

    def __init__(self, function):
        self.local, self.outer, self.globals = set(), set(), set()
        self.yields = False
        a = function.args
        for arg in (*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg):
            if arg is not None:
                self.local.add(arg.arg)
        body = function.body if isinstance(function.body, list) else [function.body]
        for statement in body:
            self.visit(statement)
        self.local -= self.outer | self.globals

    def visit_Name(self, node):
        if not isinstance(node.ctx, ast.Load):
            self.local.add(node.id)

    def visit_FunctionDef(self, node):
        self.local.add(node.name)
        for part in (*node.decorator_list, *node.args.defaults, *node.args.kw_defaults):
            if part is not None:
                self.visit(part)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node):
        self.local.add(node.name)

    def visit_Lambda(self, node):
        for part in (*node.args.defaults, *node.args.kw_defaults):
            if part is not None:
                self.visit(part)

    def _comprehension(self, node):
        for n in ast.walk(node):  # only a walrus leaves a comprehension
            if isinstance(n, ast.NamedExpr):
                self.local.add(n.target.id)

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    def visit_Import(self, node):
        for alias in node.names:
            self.local.add((alias.asname or alias.name).split(".")[0])

    visit_ImportFrom = visit_Import

    def visit_ExceptHandler(self, node):
        if node.name:
            self.local.add(node.name)
        self.generic_visit(node)

    def visit_MatchAs(self, node):
        self.local.update(bound_names(node))
        self.generic_visit(node)

    visit_MatchStar = visit_MatchMapping = visit_MatchAs

    def visit_Nonlocal(self, node):
        self.outer.update(node.names)

    def visit_Global(self, node):
        self.globals.update(node.names)

    def visit_Yield(self, node):
        self.yields = True

    visit_YieldFrom = visit_Yield


def _index(filename, module_globals):
    lines = linecache.getlines(filename, module_globals)
    functions, lambdas = {}, {}
    if lines:
        try:
            tree = IfChains().visit(ast.parse("".join(lines)))
        except SyntaxError:
            tree = None
        for node in ast.walk(tree) if tree is not None else ():
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
                functions.setdefault((first, node.name), []).append(node)
            elif isinstance(node, ast.Lambda):
                lambdas.setdefault(node.lineno, []).append(node)
    return lines, functions, lambdas


def _pick_lambda(code, candidates):
    """The lambda among those that begin in one line that `code` was compiled from, or None."""
    if len(candidates) > 1:
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        candidates = [
            c
            for c in candidates
            if tuple(a.arg for a in (*c.args.posonlyargs, *c.args.args, *c.args.kwonlyargs))
            == names
        ]
    if len(candidates) > 1 and hasattr(code, "co_positions"):
        spans = [p for p in code.co_positions() if None not in p and p[1:] != (p[0], 0, 0)]
        spans = [p for p in spans if p[3] > p[2] or p[1] > p[0]]
        if spans:
            line, _, column, _ = spans[-1]  # the expression whose value is given back
            fits = [
                c
                for c in candidates
                if (c.body.lineno, c.body.col_offset) <= (line, column)
                and (line, column) <= (c.body.end_lineno, c.body.end_col_offset)
            ]
            # Of nested ones the inner has the nearer body.
            fits.sort(key=lambda c: (c.body.lineno, c.body.col_offset))
            exact = [c for c in fits if (c.body.lineno, c.body.col_offset) == (line, column)]
            candidates = exact[-1:] or fits[-1:]
    return candidates[0] if len(candidates) == 1 else None


def _find(fn):
    code = fn.__code__
    filename = code.co_filename
    found = _files.get(filename)
    if found is None or not found[0]:
        found = _files[filename] = _index(filename, fn.__globals__)
    lines, functions, lambdas = found
    if code.co_name == "<lambda>":
        node = _pick_lambda(code, lambdas.get(code.co_firstlineno, []))
    else:
        nodes = functions.get((code.co_firstlineno, code.co_name), [])
        node = nodes[0] if len(nodes) == 1 else None
    if node is None:
        return None
    name = getattr(fn, "__qualname__", code.co_name).replace("<locals>.", "")
    return Source(node, filename, name, lines, code.co_firstlineno)


def source_of(fn):
    """The Source of a Python function; None when its text is not to be had."""
    code = fn.__code__
    known = _sources.get(id(code))
    if known is None:
        known = _sources[id(code)] = (code, _find(fn))
    return known[1]


def nested_source(node, parent):
    """The Source of a function defined inside `parent`, another Source."""
    found = getattr(node, "_source", None)
    if found is None:
        name = "<lambda>" if isinstance(node, ast.Lambda) else node.name
        found = Source(node, parent.filename, f"{parent.name}.{name}", parent.lines, node.lineno)
        node._source = found
    return found


_paths = sysconfig.get_paths()
_STDLIB = tuple({os.path.join(_paths[k], "") for k in ("stdlib", "platstdlib")})
_SITE = tuple({os.path.join(_paths[k], "") for k in ("purelib", "platlib")})
_uses = {}  # id of a module's globals -> whether they name something of this package


def _uses_package(module_globals):
    known = _uses.get(id(module_globals))
    if known is None:
        known = any(
            (getattr(v, "__name__", None) or "").split(".")[0] == "mycel"
            or (getattr(v, "__module__", None) or "").split(".")[0] == "mycel"
            for v in list(module_globals.values())
            if isinstance(getattr(v, "__module__", None) or "", str)
            and isinstance(getattr(v, "__name__", None) or "", str)
        )
        _uses[id(module_globals)] = known
    return known


_user_files = {}


def _file_kind(filename):
    kind = _user_files.get(filename)
    if kind is None:
        if filename.startswith(PACKAGE) or filename.startswith("<frozen"):
            kind = "no"
        elif filename.startswith(_SITE):
            kind = "ask"
        elif filename.startswith(_STDLIB):
            kind = "no"
        else:
            kind = "yes"
        _user_files[filename] = kind
    return kind


def is_user_code(fn):
    """Whether a Python function is the user's program: not this package, Python's library, or an
    installed package that does not use this one."""
    kind = _file_kind(fn.__code__.co_filename)
    return kind == "yes" or (kind == "ask" and _uses_package(fn.__globals__))


def is_user_file(filename):
    """Whether a module's file is the user's: nothing that is installed."""
    return _file_kind(filename) == "yes"
