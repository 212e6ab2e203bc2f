"""Statistics as pure functions of arrays: intervals, tests, corrections, agreement.

Each validates its input, computes, and returns a frozen result; degenerate input gives NaN and a
named warning, never a made-up interval.
"""
