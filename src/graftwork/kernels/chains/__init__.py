"""Loops over label chains: forward-backward, most probable labels, sums of features."""
