"""Hard errors and the heat map."""
