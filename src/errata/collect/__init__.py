"""Collecting judgments: the design of a campaign, who gets which task, what an answer may say.

Everything here is pure: no files, no clock, no database, no web packages. ``rng`` and ``now`` are
arguments, and what must be looked up comes through the protocol `errata.collect.assignment.Reader`.
The store (`errata.collect.web.store`) keeps what is decided here; pages and commands stand on top
of it.

- `design`: every setting of a campaign, checked; `sampling` and `items`: which sentences and which
  outputs; `schedule`: where checks stand among a judge's tasks; `policies`: who meets whom;
- `assigning`: `assign`, the next task of a judge;
- `tasks`: what is shown; `answers`: what may be answered (and what is 422);
- `checks`: controls, repeats, ties; `readings`: stored answers as `errata.data.Judgment`;
- `budget`: hours, money, size and stop rules.
"""
