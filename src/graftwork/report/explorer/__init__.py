"""The explorer: one HTML file to look at what was learned, and to ask it "what if".

``explorer.js`` and ``explorer.css`` are made from ``explorer/`` at the top of the repository by
``make explorer``; they hold no code of others.
"""

from graftwork.report.explorer.views import explore

__all__ = ["explore"]
