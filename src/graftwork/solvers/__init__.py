"""Improve the weights of everything active."""

from graftwork.solvers.memory import Memory
from graftwork.solvers.proximal import ProximalQuasiNewton, Solution, Solver

__all__ = ["Memory", "ProximalQuasiNewton", "Solution", "Solver"]
