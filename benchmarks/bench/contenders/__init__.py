"""One file a contender, run by ``bench/measure.py``; see there for the three functions."""
