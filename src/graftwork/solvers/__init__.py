"""Improve the weights of everything active."""

from graftwork.solvers.gauss_seidel import GaussSeidel
from graftwork.solvers.memory import Memory
from graftwork.solvers.orthant import OrthantWise
from graftwork.solvers.proximal import ProximalQuasiNewton
from graftwork.solvers.schedules import Lazy, Loose, Schedule, Steps, ToConvergence
from graftwork.solvers.solution import Forgetful, Solution, Solver, measure

__all__ = [
    "Forgetful",
    "GaussSeidel",
    "Lazy",
    "Loose",
    "Memory",
    "OrthantWise",
    "ProximalQuasiNewton",
    "Schedule",
    "Solution",
    "Solver",
    "Steps",
    "ToConvergence",
    "measure",
]
