"""What is no test here."""

collect_ignore = ["make_golden.py"]  # it needs the peers, and makes files
