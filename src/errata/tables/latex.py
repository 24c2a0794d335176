"""Tables for a paper: LaTeX with booktabs, the best in bold, signatures in a comment."""

from __future__ import annotations

import re
from collections.abc import Sequence

from errata.core.errors import escape_controls
from errata.tables.cells import BestScore, Cell
from errata.tables.table import SignatureForm, Table

# Characters and what LaTeX writes for them.
_LATEX = {
    **{mark: f"\\{mark}" for mark in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\\": r"\textbackslash{}",
    "−": "$-$",
    "±": r"$\pm$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "…": r"\ldots{}",
    "α": r"$\alpha$",
    "β": r"$\beta$",
    "κ": r"$\kappa$",
    "ρ": r"$\rho$",
    "σ": r"$\sigma$",
    "τ": r"$\tau$",
    "λ": r"$\lambda$",
    "→": r"$\to$",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "—": "---",
    "–": "--",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
}
# F0.5 as papers write it.
_F_SCORE = re.compile(r"\bF(\d+(?:\.\d+)?)\b")


def latex_table(table: Table, signature: SignatureForm = "short") -> str:
    """Return a table environment with the cells that a terminal shows."""

    def line(cells: Sequence[str]) -> str:
        text = " & ".join(cells) + r" \\"
        return f"{{}}{text}" if text[0] in "[*" else text  # no argument of what stands before it

    spec = "".join("r" if right else "l" for right in table.numeric())
    # A comment ends with its line, and nothing of the data can end the line: it is visible().
    lines = [f"% {escape_controls(table.answer.sentence)}"] if table.answer else []
    lines += [f"% {made}" for made in table.signature_lines("full")]
    lines += [
        r"\begin{table}",
        r"\centering",
        rf"\begin{{tabular}}{{{spec}}}",
        r"\toprule",
        line([_F_SCORE.sub(r"$F_{\1}$", _escape_latex(head)) for head in table.heads()]),
        r"\midrule",
    ]
    for position, (cells, texts) in enumerate(zip(table.rows, table.texts(), strict=True)):
        lines.append(line([_latex_cell(*pair) for pair in zip(cells, texts, strict=True)]))
        if position in table.rules and position + 1 < len(table.rows):
            lines.append(r"\midrule")
    lines += [r"\bottomrule", r"\end{tabular}"]
    said = [remark.replace("* best   =", "Bold: best; =:") for remark in table.remarks()]
    said += table.signature_lines() if signature == "full" else ()
    caption = ". ".join(filter(None, (escape_controls(table.title), " ".join(said))))
    lines += [rf"\caption{{{_escape_latex(caption)}}}"] if caption else []
    label = re.sub("[^A-Za-z0-9]+", "-", table.name or table.title).strip("-").lower()
    lines += [rf"\label{{tab:{label}}}"] if label else []
    return "\n".join([*lines, r"\end{table}"])


def _escape_latex(text: str) -> str:
    return "".join(_LATEX.get(c, c) for c in text)


def _latex_cell(cell: Cell, text: str) -> str:
    if not isinstance(cell, BestScore):
        return _escape_latex(text)
    shown = _escape_latex(text.rstrip(" *="))
    if cell.lead == "best":
        return rf"\textbf{{{shown}}}"
    return shown + (r"$^{=}$" if cell.lead == "tie" else "")
