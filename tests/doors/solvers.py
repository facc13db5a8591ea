"""What tests know of the files of solvers."""

from graftwork.solvers import newton as newton_module
from graftwork.solvers.coordinates import Decoupled, choose_coordinates
from graftwork.solvers.newton import Curvature, newton, switch, switch_nearby
from graftwork.solvers.proximal import Composite, _Model
from graftwork.solvers.solution import never
