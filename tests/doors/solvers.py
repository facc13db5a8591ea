"""What tests know of the files of solvers."""

from graftwork.solvers.coordinates import Decoupled, choose_coordinates
from graftwork.solvers.proximal import Composite, _Model
from graftwork.solvers.solution import never
