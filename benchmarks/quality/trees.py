"""Tree ensembles, alone and with error bars of their own: NGBoost, CatBoost, quantile forests, conformal quantiles."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import ExtraTreesRegressor, GradientBoostingRegressor
from sklearn.tree import DecisionTreeRegressor

from benchmarks.quality.answers import LEVELS, QUANTILES, Answer, quantiles_of_intervals, variance_factor
from benchmarks.quality.protocol import Method, Run
from lab.splits import HELD_OUT_SHARE, held_out_rows

N_TREES = 300
MOST_STAGES = 2000
PATIENCE = 50
"""Rounds of boosting without improvement on held-out rows before it stops."""


def extra_trees(seed: int) -> ExtraTreesRegressor:
    return ExtraTreesRegressor(N_TREES, random_state=seed)


def gradient_boosting(seed: int) -> GradientBoostingRegressor:
    return GradientBoostingRegressor(random_state=seed)


class CatBoost(RegressorMixin, BaseEstimator):
    """CatBoost with its defaults, stopped early on 20 % of the rows that it is fitted to.

    Parameters
    ----------
    loss_function : {"RMSE", "RMSEWithUncertainty"}
    seed : int
    """

    def __init__(self, loss_function: str = "RMSE", seed: int = 0) -> None:
        self.loss_function = loss_function
        self.seed = seed

    def fit(self, X: np.ndarray, y: np.ndarray) -> CatBoost:
        from catboost import CatBoostRegressor

        self.held_out_ = held_out_rows(len(y), self.seed)
        self.model_ = CatBoostRegressor(
            loss_function=self.loss_function,
            random_seed=self.seed,
            early_stopping_rounds=PATIENCE,
            thread_count=1,
            verbose=False,
            allow_writing_files=False,
        )
        held = self.held_out_
        self.model_.fit(X[~held], y[~held], eval_set=(X[held], y[held]))
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.model_.predict(X)

    def predict_mean_and_std(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """For the loss with uncertainty."""
        mean, variance = self.model_.predict(X, prediction_type="RMSEWithUncertainty").T
        return mean, np.sqrt(variance)


def alone(make_model: Callable[[int], Any]) -> Method:
    """A model without error bars; ``make_model`` is given a seed."""

    def method(run: Run) -> Answer:
        began = time.perf_counter()
        mean = make_model(run.number).fit(run.X_train, run.y_train).predict(run.X_test)
        return Answer(mean, time.perf_counter() - began)

    return method


def catboost_uncertainty(*, scaled: bool) -> Method:
    """Mean and variance by CatBoost; ``scaled`` by the factor of all variances that its held-out rows ask for."""

    def method(run: Run) -> Answer:
        began = time.perf_counter()
        model = CatBoost("RMSEWithUncertainty", run.number).fit(run.X_train, run.y_train)
        mean, std = model.predict_mean_and_std(run.X_test)
        if scaled:
            held = model.held_out_
            held_mean, held_std = model.predict_mean_and_std(run.X_train[held])
            std = std * np.sqrt(variance_factor(run.y_train[held], held_mean, held_std))
        return Answer(mean, time.perf_counter() - began, std)

    return method


def catboost_refitted(run: Run) -> Answer:
    """Mean and variance by CatBoost; 20 % of the rows choose the number of rounds, then all are fitted anew."""
    from catboost import CatBoostRegressor

    began = time.perf_counter()
    chosen = CatBoost("RMSEWithUncertainty", run.number).fit(run.X_train, run.y_train).model_
    model = CatBoostRegressor(
        loss_function="RMSEWithUncertainty",
        iterations=chosen.get_best_iteration() + 1,
        learning_rate=chosen.get_all_params()["learning_rate"],  # by default it depends on the number of rounds
        random_seed=run.number,
        thread_count=1,
        verbose=False,
        allow_writing_files=False,
    ).fit(run.X_train, run.y_train)
    mean, variance = model.predict(run.X_test, prediction_type="RMSEWithUncertainty").T
    return Answer(mean, time.perf_counter() - began, np.sqrt(variance))


def ngboost(run: Run) -> Answer:
    """Natural gradient boosting of a Gaussian's mean and log standard deviation; 500 stages at most."""
    began = time.perf_counter()
    model = _stopped_early(run, 500)
    distribution = model.pred_dist(run.X_test, max_iter=model.best_val_loss_itr)
    return Answer(distribution.loc, time.perf_counter() - began, distribution.scale)


def ngboost_refitted(run: Run) -> Answer:
    """As its authors run it on benchmarks: 20 % of the rows choose among 2,000 stages, then all are fitted anew."""
    began = time.perf_counter()
    n_stages = _stopped_early(run, MOST_STAGES).best_val_loss_itr + 1
    distribution = _natural_booster(run, n_stages).fit(run.X_train, run.y_train).pred_dist(run.X_test)
    return Answer(distribution.loc, time.perf_counter() - began, distribution.scale)


def _natural_booster(run: Run, n_stages: int) -> Any:
    from ngboost import NGBRegressor

    tree = DecisionTreeRegressor(max_depth=3, random_state=run.number)  # the default one draws from a global generator
    return NGBRegressor(Base=tree, n_estimators=n_stages, verbose=False, random_state=run.number)


def _stopped_early(run: Run, n_stages: int) -> Any:
    """Fitted to four fifths of the rows; the rest tell how many of the stages are best."""
    held = run.held_out()
    return _natural_booster(run, n_stages).fit(
        run.X_train[~held],
        run.y_train[~held],
        X_val=run.X_train[held],
        Y_val=run.y_train[held],
        early_stopping_rounds=PATIENCE,
    )


def quantile_forest(run: Run) -> Answer:
    """Quantiles of the training outcomes in the leaves of a random forest, and the forest's mean."""
    from quantile_forest import RandomForestQuantileRegressor

    began = time.perf_counter()
    forest = RandomForestQuantileRegressor(N_TREES, random_state=run.number).fit(run.X_train, run.y_train)
    quantiles = forest.predict(run.X_test, quantiles=list(QUANTILES))
    mean = forest.predict(run.X_test, quantiles="mean")
    return Answer(mean, time.perf_counter() - began, quantiles=quantiles)


def conformal_quantiles(run: Run, fewest: int = 0) -> Answer:
    """MAPIE's conformalised quantile regression on gradient boosting; the median is its prediction.

    One booster for each quantile, fitted without 20 % of the rows, or without so many at least; each pair is then
    conformalised on those.
    """
    from mapie.regression import ConformalizedQuantileRegressor

    began = time.perf_counter()
    n = len(run.y_train)
    held = held_out_rows(n, run.number, max(HELD_OUT_SHARE, fewest / n))
    boosters = {
        quantile: GradientBoostingRegressor(loss="quantile", alpha=quantile, random_state=run.number).fit(
            run.X_train[~held], run.y_train[~held]
        )
        for quantile in QUANTILES
    }
    intervals = []
    for level in LEVELS:
        lower, upper = (boosters[round(0.5 + sign * level / 2, 4)] for sign in (-1, 1))
        regressor = ConformalizedQuantileRegressor([lower, upper, boosters[0.5]], confidence_level=level, prefit=True)
        regressor.conformalize(run.X_train[held], run.y_train[held])
        intervals.append(regressor.predict_interval(run.X_test)[1][:, :, 0])
    median = boosters[0.5].predict(run.X_test)
    quantiles = quantiles_of_intervals(median, np.stack(intervals, axis=-1))
    return Answer(median, time.perf_counter() - began, quantiles=quantiles)
