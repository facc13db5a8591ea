"""The conditional likelihood of label chains, its data and its features."""
