"""What is done with several systems, corpora or reference sets at once."""
