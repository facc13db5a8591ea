"""From potentials to beliefs. Nothing in this room ever sees data."""
