"""Score a submission where Codabench mounts it: input/ref and input/res, to output/scores.json."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

ERRATA = "errata[report]"  # what is installed where the image does not have it


def score_mounted(given: str = "/app/input", output: str = "/app/output") -> int:
    """Write scores.json; what is wrong with a submission is said in one line."""
    if importlib.util.find_spec("errata") is None:
        subprocess.run([sys.executable, "-m", "pip", "install", "-q", ERRATA], check=True)
    from errata.errors import ErrataError
    from errata.report.board.codabench import mounted_scores

    try:
        scores = mounted_scores(Path(given) / "ref", Path(given) / "res")
    except ErrataError as error:
        print(error, file=sys.stderr)
        return 1
    Path(output).mkdir(parents=True, exist_ok=True)
    (Path(output) / "scores.json").write_text(json.dumps(scores, indent=1), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(score_mounted(*sys.argv[1:3]))
