"""Results as tables, plots and pages; nothing is computed here."""
