"""What experiments work on: texts, scores made from them, and judgments, each made once."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from errata.data import Hypotheses, Judgment, Members, Scores
from errata.datasets.collections import collection, collections, role_files
from errata.datasets.fetch import path
from errata.evaluation import evaluate
from errata.human import Comparisons, compare, parse_ranker, rank
from errata.io import read_published_scores
from errata.io.judgments import read_judgment_files, read_judgments
from errata.reproduce.experiment import load_experiment
from errata.reproduce.lookup import Unknown, pick
from errata.reproduce.texts import Texts

__all__ = ["Material"]


class Material(Texts):
    """Texts, scores and judgments by name."""

    # Metrics

    def scores(
        self, metric: str, corpus: str, typo: str = "corrected", outputs: str = ""
    ) -> Scores:
        """Systems scored with a metric of ours on a corpus by name.

        They are one's own where the corpus is, those of the set ``outputs`` where it is named, and
        the 13 of CoNLL-2014 otherwise.
        """
        whose = outputs or (corpus if corpus in self.files else "")
        own = (self.files.get(corpus), self.files.get(whose))
        return self.keep(
            ("scores", metric, corpus, typo, whose, own),
            lambda: self._evaluate(metric, corpus, typo, whose),
            known=own == (None, None),
        )

    def _evaluate(self, metric: str, corpus: str, typo: str, whose: str) -> Scores:
        data = self.corpus(corpus, typo)
        if whose:
            return evaluate(metric, data, self.outputs_of(whose), resamples=0)
        systems = self.systems()
        if len(data) < len(self.gold()):
            kept = self.kept(typo)
            systems = [Hypotheses(s.system, tuple(s.sentences[i] for i in kept)) for s in systems]
        # The published numbers are of these outputs as they are, NTHU's shifted lines and all.
        return evaluate(metric, data, systems, resamples=0, guard=False)

    def scores_by(self, metric: str) -> Scores:
        """Systems scored as this experiment's recipe says."""
        recipe = self.recipe(metric)
        return self.scores(
            recipe["metric"], recipe["references"], outputs=recipe.get("outputs", "")
        )

    def released(self, metric: str) -> Scores:
        """The scores of a metric that Chollampatt & Ng released, with sentence scores."""
        return self.keep(
            ("released", metric),
            lambda: read_published_scores(
                path("gecmetrics-scores", f"system_scores_metrics/{metric}.txt.gz"),
                sentence_path=path("gecmetrics-scores", f"sentence_scores_metrics/{metric}.txt.gz"),
            ),
        )

    # People

    def judgments(self, name: str) -> list[Judgment]:
        """Rankings by name: one's own, a data set, main, ctrl (as labelled), ctrl-text, experts."""
        key = ("judgments", name, self.files.get(name))
        return self.keep(key, lambda: self._judgments(name), known=name not in self.files)

    def _judgments(self, name: str) -> list[Judgment]:
        if name in self.files:
            own = self.files[name]
            return list(read_judgment_files(own.judgments, base=own.base))
        if name == "grundkiewicz15":
            return list(read_judgments(path(name, "judgments.xml")))
        if name == "napoles15":
            return list(read_judgments(path(name, "all_judgments.csv")))
        if name == "napoles15-xml":
            file = path("napoles15", "all_judgments.xml")
            return list(read_judgments(file, leave_out=("non-native",)))
        if name == "main":
            return list(read_judgments(path("sakaguchi16", "Main_merged.csv"), labels="given"))
        if name in ("ctrl", "ctrl-text"):
            ctrl = path("sakaguchi16", "Ctrl_merged.csv")
            if name == "ctrl":
                return list(read_judgments(ctrl, labels="given"))
            outputs = {s.system: s.sentences for s in self.systems()}
            return list(read_judgments(ctrl, labels="text", outputs=outputs))
        if name in ("experts", "experts-unshifted"):
            # The released expert rankings took items whose number, less one, was judged again.
            shift = 1 if name == "experts" else 0
            again = {j.sentence for j in self.judgments("ctrl")}
            return [j for j in self.judgments("grundkiewicz15") if j.sentence - shift in again]
        if name in collections() and (files := role_files(collection(name), "judgments")):
            return list(read_judgment_files(files, base=collection(name).base))
        raise Unknown(f"there are no judgments {name!r}")

    def comparisons(self, judgments: str, members: Members = "all") -> Comparisons:
        """Pairwise comparisons of judgments; ``released`` are those of Chollampatt & Ng."""
        if judgments == "released":
            file = pick(members, {"all": "expanded", "sample": "unexpanded"})
            return self.keep(
                ("comparisons", judgments, members),
                lambda: compare(
                    read_judgments(
                        path("gecmetrics-scores", f"sentence_pairwiseranks_humans/{file}.csv.gz")
                    )
                ),
            )
        return self.keep(
            ("comparisons", judgments, members, self.files.get(judgments)),
            lambda: compare(self.judgments(judgments), members=members),
        )

    def ranked(self, judgments: str, ranker: str, resamples: int = 0) -> Scores:
        """Systems scored from judgments, resampled by pairs as published."""
        return self.keep(
            ("ranked", judgments, ranker, resamples, self.files.get(judgments)),
            lambda: rank(
                parse_ranker(ranker), self.comparisons(judgments), unit="pairs", resamples=resamples
            ),
        )

    def printed(self, experiment: str, table: str) -> Mapping[tuple[str, ...], str | None]:
        """The printed cells of another experiment's table."""
        for found in self.keep(
            ("experiment", experiment), lambda: load_experiment(experiment)
        ).tables:
            if found.name == table:
                return found.cells
        raise Unknown(f"{experiment} has no table {table!r}")

    def printed_scores(self, experiment: str, table: str) -> Scores:
        """A printed column of scores, one row a system."""
        cells = {key[0]: text for key, text in self.printed(experiment, table).items()}
        return Scores(
            f"{experiment} {table}",
            tuple(cells),
            np.array([float(text or "nan") for text in cells.values()]),
        )
