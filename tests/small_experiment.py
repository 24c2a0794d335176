"""A published table small enough to be checked by hand, as an experiment file."""

SMALL = '''
name = "small"
title = "A small experiment"
citation = "Nobody. 2025. Nothing. Nowhere."
data = []

[[table]]
name = "one"
title = "Spearman's rho from printed rankings"
origin = "Table 3"
measure = "printed_rank_correlation"
by = ["metric", "kind"]
arguments = { experiment = "napoles15", table = "table2" }
matrix = """
        spearman  pearson
M2      0.429     0.358
BLEU    -0.225    -
GLEU_0  ?         -
"""
    [[table.way]]
    from = "print"
    [[table.known]]
    from = "print"
    reason = "a slip"
    matrix = """
          spearman
    BLEU  -0.187
    """

[[finding]]
name = "slip"
title = "A slip"
text = "It is one."
    [[finding.evidence]]
    what = "rho of BLEU"
    measure = "printed_rank_correlation"
    arguments = { metric = "BLEU", experiment = "napoles15", table = "table2" }
    printed = "-0.225"
    found = "-0.187"
'''
