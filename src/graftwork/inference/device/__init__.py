"""Draws and messages on a graphics card, with PyTorch and Triton, imported when asked for."""
