"""Results as tables of typed cells, one module per kind of result."""
