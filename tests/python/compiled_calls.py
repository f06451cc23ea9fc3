"""A second form of a test module for graph mode: every op, tensor method and operator that it
applies to a tensor is compiled, and then run. Cells and `jit` are not touched: graph mode compiles
them by itself."""

import ast
import operator
import types

import mycel as ms
from mycel import Tensor, _mycel, ops
from mycel.ops._transforms import flatten

_OPERATORS = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
    ast.Pow: operator.pow, ast.MatMult: operator.matmul, ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_, ast.BitXor: operator.xor, ast.LShift: operator.lshift,
    ast.RShift: operator.rshift, ast.USub: operator.neg, ast.UAdd: operator.pos,
    ast.Invert: operator.invert, ast.Eq: operator.eq, ast.NotEq: operator.ne,
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip
# Methods of Tensor that are Python functions and compute.
_METHODS = frozenset(
    "amax amin astype bool choose clamp clip copy expand expand_as fill fills flatten float half"
    " int long max min new_ones new_zeros permute ptp repeat reshape resize select short std sum t"
    " tile to transpose unbind view where".split()
)
_TRANSFORMS = frozenset("vjp linearize".split())  # give functions that hold tensors
_NATIVE = frozenset("super locals globals vars dir isinstance getattr setattr type len".split())


def _has_tensor(values):
    found = []
    flatten(values, found)
    return bool(found) and all(map(_mycel.known, found))


def _computes(fn):
    if type(fn) is types.MethodType and isinstance(fn.__self__, Tensor):
        return isinstance(fn.__func__, _mycel.Op) or fn.__name__ in _METHODS
    if isinstance(fn, (_mycel.Op, ops.Primitive)):
        return True
    name = getattr(fn, "__name__", "")
    is_op = isinstance(fn, _mycel.entry) and getattr(ops, name, None) is fn
    return is_op and name not in _TRANSFORMS


def call(fn, *args, **kwargs):
    """fn(*args, **kwargs), compiled where fn is an op and something in the arguments a tensor."""
    if not _computes(fn):
        return fn(*args, **kwargs)
    if type(fn) is types.MethodType:
        owner, name = fn.__self__, fn.__name__
        if not _has_tensor(owner):
            return fn(*args, **kwargs)
        return ms.jit(lambda x, *a, **k: getattr(x, name)(*a, **k))(owner, *args, **kwargs)
    if not _has_tensor((args, kwargs)):
        return fn(*args, **kwargs)
    return ms.jit(fn)(*args, **kwargs)


def operate(kind, *operands):
    """operator(*operands), compiled where an operand is a tensor."""
    fn = getattr(operator, kind)
    if not any(isinstance(v, Tensor) for v in operands) or not _has_tensor(operands):
        return fn(*operands)
    if kind == "getitem" and not isinstance(operands[0], Tensor):
        return fn(*operands)
    return ms.jit(fn)(*operands)


class _Rewrite(ast.NodeTransformer):
    def _operation(self, node, kind, *operands):
        name = ast.Constant(_OPERATORS[kind].__name__ if isinstance(kind, type) else kind)
        made = ast.Call(ast.Name("__operate__", ast.Load()), [name, *operands], [])
        return ast.fix_missing_locations(ast.copy_location(made, node))

    def visit_Call(self, node):
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in _NATIVE:
            return node
        made = ast.Call(ast.Name("__call__", ast.Load()), [node.func, *node.args], node.keywords)
        return ast.fix_missing_locations(ast.copy_location(made, node))

    def visit_BinOp(self, node):
        self.generic_visit(node)
        return self._operation(node, type(node.op), node.left, node.right)

    def visit_UnaryOp(self, node):
        self.generic_visit(node)
        if isinstance(node.op, ast.Not):
            return node
        return self._operation(node, type(node.op), node.operand)

    def visit_Compare(self, node):
        self.generic_visit(node)
        if len(node.ops) > 1 or type(node.ops[0]) not in _OPERATORS:
            return node
        return self._operation(node, type(node.ops[0]), node.left, node.comparators[0])

    def visit_Assign(self, node):
        self.generic_visit(node)
        target = node.targets[0]
        if len(node.targets) > 1 or not isinstance(target, ast.Subscript):
            return node
        operands = [node.value, target.value, _index(target.slice)]
        made = ast.Expr(ast.Call(ast.Name("__assign__", ast.Load()), operands, []))
        return ast.fix_missing_locations(ast.copy_location(made, node))

    def visit_Subscript(self, node):
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load):
            return node
        return self._operation(node, "getitem", node.value, _index(node.slice))


def assign(value, container, index):
    """container[index] = value, compiled where the container is a tensor."""
    if not isinstance(container, Tensor) or not _has_tensor((container, index, value)):
        container[index] = value
    else:
        ms.jit(_assign)(container, index, value)


def _assign(container, index, value):
    container[index] = value


def _index(node):
    """A subscript as an expression."""
    if isinstance(node, ast.Slice):
        parts = [p or ast.Constant(None) for p in (node.lower, node.upper, node.step)]
        return ast.Call(ast.Name("slice", ast.Load()), parts, [])
    if isinstance(node, ast.Tuple):
        return ast.Tuple([_index(n) for n in node.elts], ast.Load())
    return node


def second_form(module):
    """The module's names with its source run anew, every op in it compiled."""
    with open(module.__file__) as f:
        tree = _Rewrite().visit(ast.parse(f.read()))
    names = {k: v for k, v in vars(module).items() if k.startswith("__")}
    names |= {"__call__": call, "__operate__": operate, "__assign__": assign}
    exec(compile(tree, module.__file__, "exec"), names)
    return names
