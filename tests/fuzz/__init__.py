"""Cases that nobody thought of: made at random, checked for what must always hold.

A target has two functions: ``make`` draws a case, plain values that JSON can hold, and ``check``
tries it and raises if something does not hold. What failed once is a file of `tests/corpus`.
"""
