"""Compare two systems: what changed, and the gate that fails a build."""
