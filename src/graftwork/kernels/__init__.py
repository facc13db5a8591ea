"""Compiled loops: arrays in, arrays out. Nothing here knows what a variable or an edge means."""
