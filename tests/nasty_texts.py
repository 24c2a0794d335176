"""Texts that try to break a page: markup, words without end, writing from the right."""

NASTY = 'He write <script>document.title="pwned"</script> & "quotes\' <img src=x onerror=alert(1)>'
LONG = "w" * 1000
SOURCES = (
    "He go home .",
    "She like a tea .",
    NASTY,
    "بيت هو كبير .",
    f"{LONG} are long .",
    "All is well .",
    *(f"They was here {k} times ." for k in range(60)),
)
CORRECT = (
    "He goes home .",
    "She likes tea .",
    NASTY.replace("write", "writes"),
    "البيت هو كبير .",
    f"{LONG} is long .",
    "All is well .",
    *(f"They were here {k} times ." for k in range(60)),
)
WILD = (
    "He went to home .",
    "She likes a tea with so very much milk in it .",  # better by its edits, worse by its n-grams
    *SOURCES[2:5],
    "All is très well .",
    *SOURCES[6:],
)
