"""graftwork and its peers on the same data in the same run: ``python -m bench --help``."""
