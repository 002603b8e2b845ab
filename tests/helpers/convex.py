"""Convex problems for optimizers."""

import numpy as np

TIGHT = {"delta": 0.0, "period": 0, "epsilon": 1e-9}  # of convergence


def softmax_regression(seed=0, n=80, features=12, classes=4, penalty=0.1):
    """The objective of a softmax regression with an L2 penalty, its gradient, and where to start."""
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(n, features)) * np.geomspace(0.1, 5, features)
    labels = rng.integers(0, classes, n)

    def objective(x):
        scores = table @ x.reshape(features, classes)
        scores = scores - scores.max(axis=1, keepdims=True)
        log_p = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
        residual = np.exp(log_p)
        residual[np.arange(n), labels] -= 1
        value = -log_p[np.arange(n), labels].sum() + penalty * x @ x
        return float(value), (table.T @ residual).reshape(-1) + 2 * penalty * x

    return objective, np.zeros(features * classes)
