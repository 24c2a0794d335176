"""The server of `errata collect`: database, links, API and pages.

Nothing here is imported by ``import errata``; it needs ``pip install 'errata-gec[web]'``.
"""
