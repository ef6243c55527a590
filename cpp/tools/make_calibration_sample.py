"""Write ripple/data/calibration_sample.txt: sentences on which the thresholds of an embedder are calibrated.

The lines of the evidence stories, each once and without a speaker, with another seed than the evaluation's.
Run it after a change of ripple/data/stories.json, and then recalibrate.

    python -P cpp/tools/make_calibration_sample.py
"""

from pathlib import Path

from ripple.evaluation.stories import sample_sentences

SEED = 20_260_401  # the evaluation's stories have seed 12
TARGET = Path(__file__).resolve().parents[2] / "ripple" / "data" / "calibration_sample.txt"

if __name__ == "__main__":
    sentences = sample_sentences(SEED)
    TARGET.write_text("\n".join(sentences) + "\n", encoding="utf-8")
    print(f"{len(sentences)} sentences written to {TARGET.name}")
