"""Inner loops in Cython's pure-Python mode: compiled at install, the same uncompiled.

How they are written, all alike:

- Types are annotations: of arguments, of fields, and of locals at the top of the body.
- A constant is ``cython.declare(cython.const_int, 3)``. Compiled, that is an immediate, where
  ``cython.int`` would be loaded; no other module can see it, so that it has no underscore. Other
  functions and classes have one unless another module uses them.
- Values that many functions share are in a class (``@cython.cclass``). A local name for an array of
  it saves time in a loop over a sentence and costs time, for the counting of references, in a
  function that is called for every cell.
- A branch with immediates may be slower than a conditional move without: measure.
"""
