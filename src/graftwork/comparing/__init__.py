"""Several methods on the same data at the same lambda: what each reaches, and at what cost."""
