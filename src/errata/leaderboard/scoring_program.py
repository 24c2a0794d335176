"""Score a submission where Codabench mounts it: input/ref and input/res, to output/scores.json."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path


def install_carried_wheel() -> None:
    """Install the wheel that travels beside this file; pip downloads only what it depends on."""
    wheel = next(Path(__file__).resolve().parent.glob("errata_gec-*.whl"))
    target = f"errata-gec[report] @ {wheel.as_uri()}"
    subprocess.run([sys.executable, "-m", "pip", "install", "-q", target], check=True)


def score_mounted(given: str = "/app/input", output: str = "/app/output") -> int:
    """Write scores.json and return 0; print the fault of a submission and return 1."""
    if importlib.util.find_spec("errata") is None:
        install_carried_wheel()
    from errata.core.errors import ErrataError
    from errata.leaderboard.codabench import score_mounted_submission

    try:
        scores = score_mounted_submission(Path(given) / "ref", Path(given) / "res")
    except ErrataError as error:
        print(error, file=sys.stderr)
        return 1
    Path(output).mkdir(parents=True, exist_ok=True)
    (Path(output) / "scores.json").write_text(json.dumps(scores, indent=1), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(score_mounted(*sys.argv[1:3]))
