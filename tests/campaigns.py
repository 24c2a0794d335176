"""Texts of made-up systems, for campaigns of tests."""

import numpy as np

from errata.collect.items import CampaignTexts

WORDS = ("the", "a", "cat", "dog", "sees", "likes", "goes", "to", "home", "school", "very", "red")


def material(
    sentences: int = 40, systems: int = 5, seed: int = 0, sharing: float = 0.3
) -> CampaignTexts:
    """CampaignTexts in which systems change words at random; some share an output."""
    rng = np.random.default_rng(seed)
    sources, outputs = [], {f"S{k}": list[str]() for k in range(systems)}
    for _ in range(sentences):
        source = rng.choice(WORDS, int(rng.integers(4, 35))).tolist()
        sources.append(" ".join(source))
        before = ""
        for name in outputs:
            words = [w + "s" if rng.random() < 0.2 else w for w in source]
            text = " ".join(words)
            text = before if before and rng.random() < sharing else text
            outputs[name].append(text)
            before = text
    return CampaignTexts(tuple(sources), {name: tuple(texts) for name, texts in outputs.items()})
