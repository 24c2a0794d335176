"""The rim of `errata collect`: the database, tokens, and (to come) the HTTP app and its pages.

What an app needs is in four places: `errata.collect.web.database` opens, checks, migrates, locks
and snapshots a database; `errata.collect.web.store.AssignmentStore` does what a judge does (claim,
submit, ping, return, withdraw) in one transaction each; `errata.collect.web.judges` what an
organiser does to judges and to the campaign; `errata.collect.web.exports` streams files out.
`errata.collect.web.tokens` makes and checks links. Nothing here is imported by ``import errata``;
it needs ``pip install 'errata-gec[web]'``.
"""
