"""The source front end of graph mode: an abstract interpreter of the Python functions that a
program compiles.

Python values are evaluated while compiling, by really running Python; tensors stay symbolic, and
what the tracer records becomes the graph. `if`, `while` and `for` on symbolic tensors become `cond`
and `while_loop` ops. docs/graph_mode.md lists the constructs.

source       the syntax tree of a function, found by its code object
activation   one call: variables, position; expressions, statements, loops, calls are its parts
values       kinds of values, and how those of two paths become one
journal      what a branch changes; regions: branches and loops of the compiled program
effects      print and errors at run time
"""

from mycel.front import effects
from mycel.front.functions import Interpreted, construct_of, resolve, wrap
from mycel.front.program import compile_function
from mycel.front.state import here

__all__ = ["Interpreted", "compile_function", "construct_of", "here", "resolve", "wrap"]
