"""The corpus and the systems that a command's options name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from errata.errors import InputError

if TYPE_CHECKING:
    from errata.data import Corpus, Hypotheses

__all__ = ["DEFAULT_METRICS", "load_inputs"]

DEFAULT_METRICS = ("m2", "imeasure", "gleu", "bleu")


def load_inputs(
    outputs: tuple[str, ...],
    gold: str | None,
    source: str | None,
    refs: tuple[str, ...],
    sample: bool,
    annotators: tuple[int, ...] = (),
    missing: str | None = None,
    compatible: bool = False,
) -> tuple[Corpus, list[Hypotheses]]:
    """The corpus and the systems that the options name."""
    from errata.io.corpus import keep_annotators, read_corpus, read_hypotheses, split_name

    if sample:
        if outputs or gold or source or refs:
            raise InputError("--sample takes no files", remedy="leave out either of them")
        from errata.datasets import sample_corpus, sample_systems

        corpus, systems = sample_corpus(), sample_systems()
        return keep_annotators(corpus, annotators) if annotators else corpus, systems

    if not outputs:
        raise InputError("no output to score", remedy="name one file per system, or use --sample")
    corpus = read_corpus(
        gold=gold,
        source=source,
        references=refs,
        annotators=annotators or None,
        missing=missing,
        compatible=compatible,
    )
    systems, files = [], dict[str, str]()
    for path in outputs:
        systems.append(read_hypotheses(path, corpus=corpus))
        name, file = systems[-1].system, split_name(path)[1]
        if files.setdefault(name, file) != file or len(files) < len(systems):
            raise InputError(
                f"the system {name!r} is also in {files[name]}",
                path=file,
                remedy="name them apart with name=path",
            )
    return corpus, systems
