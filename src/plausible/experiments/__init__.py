"""Experiments of the papers, and of real soft labels: one file for each table or figure.

Each is a program, ``python -m plausible.experiments.come_2008 [--quick] [--output FOLDER]``, with a
function ``run(quick, seed, progress)`` that returns its results as a dictionary ready for JSON.

come_2008
    Figure 1.1 of Côme, Oukhellou, Denoeux and Aknin: a doubtful expert.
crowds
    Answers of crowds, pooled and learnt from, on eight real sets.
denoeux_2015_lda
    Partially supervised discriminant analysis with five annotators (Denoeux's slides of 2015).
grandvalet_2002
    Semi-supervised logistic regression against EM for two Gaussians.
lu_2020
    Stochastic supervision by simulated experts: figures 1 to 5 of Lu et al.
lu_2020_real
    Stochastic supervision by other classifiers: figure 6 of Lu et al.
partial_labels
    Logistic regression from sets of candidates on three real sets.
real_assessments
    What an expert's grades teach, on two real sets.
real_soft_labels
    Soft against hardened labels on five real sets.
"""

EXPERIMENTS = (
    "come_2008",
    "crowds",
    "denoeux_2015_lda",
    "grandvalet_2002",
    "lu_2020",
    "lu_2020_real",
    "partial_labels",
    "real_assessments",
    "real_soft_labels",
)

__all__ = ["EXPERIMENTS"]
