"""Shared settings of the tests."""

from hypothesis import settings

# No deadlines: compilation and busy machines make single examples slow.
settings.register_profile("graftwork", deadline=None)
settings.load_profile("graftwork")
