"""RIORegressor: error bars and corrections for a regression model, as a scikit-learn estimator."""

from __future__ import annotations

import warnings
from copy import copy
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, RegressorMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, check_random_state, indexable
from sklearn.utils.validation import _num_samples, check_is_fitted, validate_data

from rio_uq import base_model
from rio_uq.cross_fit import FoldAverage, check_can_be_refitted, make_folds, out_of_fold
from rio_uq.explain import ExplainMixin, keep_rows
from rio_uq.features import extractor
from rio_uq.gp.rows import effective_jobs
from rio_uq.gp.training import Settings
from rio_uq.options import PAPER_SETTINGS, PAPER_VARIANTS, check_options
from rio_uq.predictive import PredictiveMixin
from rio_uq.reject import RejectMixin
from rio_uq.residual_gp import KernelChoice, Problem, fit_residual_gp
from rio_uq.validation import (
    check_choice,
    check_count,
    check_finite,
    check_held_out,
    check_target,
    check_weight,
    to_numeric,
)

Array = NDArray[np.float64]


class Decomposition(NamedTuple):
    """The correction of each prediction as a sum of two parts, each of the shape of the prediction.

    ``y_pred + input + output`` is the corrected prediction. The constant part of the correction belongs to the
    output (to the input where the kernel has no output part).
    """

    input: Array
    output: Array


class RIORegressor(PredictiveMixin, ExplainMixin, RejectMixin, MetaEstimatorMixin, RegressorMixin, BaseEstimator):
    """Residual estimation with an I/O kernel: error bars and corrections for a model that you already have.

    A Gaussian process is fitted to the residuals ``y − ŷ`` of a model. Its kernel looks at the model's inputs and at
    its output. Predictions of the model are then corrected by the residual that the GP expects, and come with the
    uncertainty of what is left. The model itself is not changed, retrained or looked into.

    Residuals should be those of rows that the model has not memorised, or the error bars are too small. A model that is
    not fitted yet is therefore cross-fitted. A fitted one is taken as it is: give `fit` rows that it has not seen, or
    its training rows with its validation rows named by ``held_out``, or its training rows alone if it was stopped early
    as in the paper. Forests and boosting fit their training rows closely: give them other rows, or ask for
    ``residuals="cross-fit"``.

    Parameters
    ----------
    estimator : estimator, callable or None
        The model: anything with a ``predict`` method, or a function from X to predictions. A fitted model is used as
        it is. A scikit-learn estimator that is not fitted is cloned and fitted; one that does not show that it is
        fitted (no attribute ends in "_") can be wrapped in `sklearn.frozen.FrozenEstimator`. None if predictions are
        given as ``y_pred`` to every method.
    target : {"residual", "outcome"}
        What the GP is fitted to; "outcome" ignores the predictions but in the output kernel.
    kernel : {"io", "input", "output"}
        What the kernel looks at: the model's inputs and output, or one of them.
    input_kernel, output_kernel : str
        "rbf", "matern12", "matern32", "matern52", "rational_quadratic", "linear", or a sum such as "rbf+linear". With a
        linear part in the output kernel the GP learns how much of the model's output to keep, see ``trust_``.
    ard : bool
        One lengthscale for each feature.
    features : None, list of columns, transformer or callable
        What the GP sees of X: X itself, which has to be numeric; some of its columns, by name or number; the output of
        a transformer; or any function of X, such as a layer of a network. The model always gets X as it is.
    residuals : {"auto", "in-sample", "cross-fit"}
        Which residuals the GP is fitted to: those of the model itself on the rows given to `fit`, or out-of-fold
        residuals, each by a clone that was fitted without the row. "auto" cross-fits a model that is not fitted yet
        (if there are two rows or more for each fold), and takes a fitted one as it is.
    cv : int, cross-validation splitter or iterable
        The folds of cross-fitting. A number of them keeps copies of a row together. A splitter may leave rows
        unpredicted (`sklearn.model_selection.TimeSeriesSplit` does): the GP is fitted to the others.
    combine : {"refit", "average"}
        What predicts after cross-fitting: the model on all rows (the fitted one as it is, an unfitted one fitted to
        them), or the mean of the models of the folds.
    inference : {"auto", "exact", "sparse"}
        "auto" is exact up to 2,000 rows.
    n_inducing : int
        Number of inducing points of sparse inference.
    inducing : {"greedy", "kmeans", "random", "first"} or array of shape (m, d + q)
        How they are chosen, or the points themselves as rows of standardised features and predictions.
    optimize_inducing : bool
        Whether they move with the hyperparameters.
    standardize_output : bool
        Whether the GP works on standardised residuals and predictions; features are standardised always.
    starts : {"auto", "rio", "unit"}
        Where the optimiser starts. "auto" tries two starts, one that believes in the model and one that does not, and
        keeps the better optimum; "rio" is the first of them; "unit" has all hyperparameters at one.
    n_restarts : int
        Random starts in addition.
    prior : {"weak", "flat"}
        On the logarithms of lengthscales and noise. "weak" settles what the data leave open, which with few rows and
        many features keeps the GP from memorising; "flat" maximises the likelihood alone.
    noise : {"io", "constant"}
        Whether the noise of outcomes may depend on the model's inputs and output. "io" learns it by a second GP from
        leave-one-out residuals, and stays with one noise variance for all rows if there is no evidence for more. The
        corrected predictions are the same in both cases.
    max_iter : int
        Iterations of the optimiser at most, in the search for the best start and on all rows.
    tol : float
        Relative gain in likelihood of an iteration below which the optimiser has converged.
    dtype : {"float64", "float32"}
        Precision of the work on rows in sparse inference; "float32" is faster and less exact.
    low_memory : bool
        Recompute kernel matrices instead of keeping them: sparse inference in memory that does not grow with the rows.
    n_jobs : int or None
        Threads; None for as many as BLAS would use, -1 for all processors. Sparse inference and prediction share their
        rows among them, exact inference its starts.
    random_state : int, RandomState or None
        For the subset of rows in the first stage, random starts and inducing points.
    verbose : bool
        Show a progress bar on standard error.

    Attributes
    ----------
    estimator_ : object
        The fitted model.
    trust_, trust_std_ : float or (q,) array
        How much of the model's output the corrected prediction keeps: 1 plus the slope of the output part of the
        correction on ŷ, with its posterior standard deviation. Near 1 for a good model, near 0 for a useless one, NaN
        where ŷ is constant.
    hyperparameters_ : dict
        Variances and lengthscales of each part of the kernel, in the units of the data.
    noise_variance_ : float or (q,) array
        Variance of what cannot be predicted, in the units of y²; that of a typical row (the geometric mean over the
        rows given to `fit`) where it depends on the row.
    bound_ : float
        Log marginal likelihood, or its lower bound in sparse inference.
    n_iter_ : int
        Iterations of the optimiser on all rows.
    converged_ : bool
        Whether the optimiser stopped because nothing was left to gain within ``tol``.
    n_features_in_ : int
    feature_names_in_ : array of str
        If X has column names.

    References
    ----------
    X. Qiu, E. Meyerson, R. Miikkulainen: Quantifying Point-Prediction Uncertainty in Neural Networks via Residual
    Estimation with an I/O Kernel. ICLR 2020.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> from rio_uq import RIORegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = Ridge().fit(X[:300], y[:300])
    >>> rio = RIORegressor(model, random_state=0).fit(X[:300], y[:300])
    >>> mean, std = rio.predict(X[300:], return_std=True)
    >>> mean.shape, std.shape
    ((142,), (142,))
    >>> rio.score(X[300:], y[300:]) > model.score(X[300:], y[300:])
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        target: str = "residual",
        kernel: str = "io",
        input_kernel: str = "matern52",
        output_kernel: str = "rbf+linear",
        ard: bool = True,
        features: Any = None,
        residuals: str = "auto",
        cv: Any = 5,
        combine: str = "average",
        inference: str = "auto",
        n_inducing: int = 300,
        inducing: Any = "greedy",
        optimize_inducing: bool = False,
        standardize_output: bool = True,
        starts: str = "auto",
        n_restarts: int = 0,
        prior: str = "weak",
        noise: str = "io",
        max_iter: int = 200,
        tol: float = 1e-6,
        dtype: str = "float64",
        low_memory: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.estimator = estimator
        self.target = target
        self.kernel = kernel
        self.input_kernel = input_kernel
        self.output_kernel = output_kernel
        self.ard = ard
        self.features = features
        self.residuals = residuals
        self.cv = cv
        self.combine = combine
        self.inference = inference
        self.n_inducing = n_inducing
        self.inducing = inducing
        self.optimize_inducing = optimize_inducing
        self.standardize_output = standardize_output
        self.starts = starts
        self.n_restarts = n_restarts
        self.prior = prior
        self.noise = noise
        self.max_iter = max_iter
        self.tol = tol
        self.dtype = dtype
        self.low_memory = low_memory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @classmethod
    def paper(cls, estimator: Any = None, *, variant: str = "RIO", ard: bool = False, **options: Any) -> Self:
        """A regressor with exactly the settings of the paper.

        Parameters
        ----------
        estimator : estimator, callable or None
        variant : {"RIO", "R+I", "R+O", "Y+O", "Y+IO", "SVGP"}
        ard : bool
        **options
            Further parameters of the constructor, such as ``features`` or ``n_jobs``.

        Examples
        --------
        >>> rio = RIORegressor.paper(variant="R+I")
        >>> rio.target, rio.kernel, rio.n_inducing
        ('residual', 'input', 50)
        """
        check_choice(variant, "variant", PAPER_VARIANTS)
        for name in {"target", "kernel"} & set(options):
            raise ValueError(f"{name} follows from the variant: choose one of {', '.join(PAPER_VARIANTS)} instead")
        target, kernel = PAPER_VARIANTS[variant]
        return cls(estimator, target=target, kernel=kernel, ard=ard, **{**PAPER_SETTINGS, **options})

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        y_pred: Any = None,
        sample_weight: Any = None,
        held_out: Any = None,
        groups: Any = None,
    ) -> Self:
        """Fit the GP to the residuals of the model, and first the model itself if it needs it.

        Parameters
        ----------
        X : array or frame of shape (n, d), or anything that the model and ``features`` take
        y : array of shape (n,) or (n, q)
        y_pred : array of the shape of y, optional
            Predictions of the model for X, if they are known already, or if they should be others than the model's own
            (out-of-fold predictions, say).
        sample_weight : array of shape (n,), optional
            How often each row counts: the GP takes their sum for the number of rows it has seen. Also given to a
            model that is fitted here, if it takes weights.
        held_out : array of bool of shape (n,), optional
            The rows that a fitted model was not trained on, such as the validation rows of a network. The GP then
            learns two noise variances, and uses that of the held-out rows for predictions.
        groups : array of shape (n,), optional
            For a ``cv`` that looks at groups.

        Returns
        -------
        self
        """
        # On a copy: an error on the way leaves an earlier fit as it was.
        fresh = copy(self)
        fresh._fit(X, y, y_pred, sample_weight, held_out, groups)
        self.__dict__ = fresh.__dict__
        if not self.converged_:
            warnings.warn(
                f"the optimiser stopped after {self.n_iter_} iterations before it had converged ({self._gp.message}): "
                "raise max_iter, or tol if this is good enough",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def _fit(self, X: Any, y: Any, y_pred: Any, sample_weight: Any, held_out: Any, groups: Any) -> None:
        check_options(self.get_params(deep=False))
        n_rows = _num_samples(X)
        validate_data(self, X, reset=True, skip_check_array=True)
        outcome = check_target(y, n_rows)
        weight = check_weight(sample_weight, n_rows)
        unseen = check_held_out(held_out, n_rows)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        self._extract = None if self.kernel == "output" else extractor(self.features, X, outcome)
        features = self._features(X)
        self._y_shape, self._n_outputs = outcome.shape[1:], 1 if outcome.ndim == 1 else outcome.shape[1]
        self._is_residual = self.target == "residual"
        is_cross_fit = self._is_cross_fit(n_rows, y_pred, unseen)
        if is_cross_fit:
            prediction = self._cross_fit(X, outcome, weight, features, groups, rng)
        else:
            self.estimator_ = base_model.fitted(self.estimator, X, outcome, weight)
            prediction = self._predictions(X, y_pred)
        kept = np.isfinite(prediction).all(axis=1) & (True if weight is None else weight > 0.0)
        outcome = outcome.reshape(n_rows, -1)
        self._gp = fit_residual_gp(
            Problem(
                features[kept],
                prediction[kept],
                (outcome - self._base(prediction))[kept],
                None if weight is None else weight[kept],
                self._is_residual,
                None if unseen is None else unseen[kept],
            ),
            KernelChoice(self.kernel, self.input_kernel, self.output_kernel, self.ard),
            self._settings(features.shape[1]),
            standardize_output=self.standardize_output,
            starts=self.starts,
            n_restarts=self.n_restarts,
            prior=self.prior,
            noise=self.noise,
            walk_options={
                "n_jobs": effective_jobs(self.n_jobs),
                "dtype": np.dtype(self.dtype),
                **({"cache_bytes": 0} if self.low_memory else {}),
            },
            rng=rng,
        )
        self._known_rows = keep_rows(features, prediction, weight, np.flatnonzero(kept), rng)
        self.bound_ = self._gp.bound
        self.n_iter_ = self._gp.n_iter
        self.converged_ = self._gp.converged
        self.hyperparameters_ = self._gp.hyperparameters()
        self.noise_variance_ = self._per_output(self._gp.noise_variance)
        self.trust_ = self._per_output(self._gp.trust)
        self.trust_std_ = self._per_output(self._gp.trust_std)

    def predict(
        self,
        X: Any,
        *,
        y_pred: Any = None,
        return_std: bool = False,
        return_cov: bool = False,
        include_noise: bool = True,
    ) -> Any:
        """Corrected predictions and, if asked for, their uncertainty.

        Parameters
        ----------
        X : as in `fit`
        y_pred : array of shape (n,) or (n, q), optional
            The model's predictions for X, if they are known already.
        return_std : bool
            Return the standard deviation as well. It is that of an outcome y, noise included, unless ``include_noise``
            is False: then that of the mean of outcomes at X.
        return_cov : bool
            Return the covariance between the rows of X instead, with the noise on its diagonal or without.
        include_noise : bool

        Returns
        -------
        mean : array of shape (n,) or (n, q)
        std : array of the same shape
            If ``return_std``.
        cov : array of shape (n, n) or (n, n, q)
            If ``return_cov``.
        """
        if return_std and return_cov:
            raise ValueError("return_std and return_cov were both True: ask for one of them at a time")
        features, prediction = self._inputs(X, y_pred)
        base = self._base(prediction)
        if return_cov:
            mean = base + self._gp.mean(features, prediction, self._jobs())
            covariance = self._gp.covariance(features, prediction)
            if include_noise:
                noise = self._gp.noise_at(features, prediction, self._jobs())
                covariance += noise.T[:, :, None] * np.eye(len(mean))
            return self._shaped(mean), covariance[0] if self._y_shape == () else np.moveaxis(covariance, 0, -1)
        if not return_std:
            return self._shaped(base + self._gp.mean(features, prediction, self._jobs()))
        mean, std = self._mean_and_std(features, prediction, include_noise=include_noise)
        return self._shaped(base + mean), self._shaped(std)

    def _mean_and_std(self, features: Array, prediction: Array, *, include_noise: bool) -> tuple[Array, Array]:
        mean, variance = self._gp.mean_and_variance(features, prediction, self._jobs())
        if include_noise:
            variance = variance + self._gp.noise_at(features, prediction, self._jobs())
        return mean, np.sqrt(variance)

    def predict_residual(
        self, X: Any, *, y_pred: Any = None, return_std: bool = False, include_noise: bool = True
    ) -> Any:
        """The correction alone: corrected prediction minus prediction, and the standard deviation if asked for."""
        features, prediction = self._inputs(X, y_pred)
        constant = self._base(prediction) - prediction
        if not return_std:
            return self._shaped(constant + self._gp.mean(features, prediction, self._jobs()))
        mean, std = self._mean_and_std(features, prediction, include_noise=include_noise)
        return self._shaped(constant + mean), self._shaped(std)

    def sample_y(
        self, X: Any, n_samples: int = 1, random_state: Any = 0, *, y_pred: Any = None, include_noise: bool = True
    ) -> Array:
        """Joint draws of the outcomes at the rows of X.

        Returns
        -------
        array of shape (n, n_samples) or (n, q, n_samples)
        """
        check_count(n_samples, "n_samples", at_least=1)
        features, prediction = self._inputs(X, y_pred)
        rng = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
        draws = self._base(prediction)[..., None] + self._gp.sample(features, prediction, n_samples, rng)
        if include_noise:
            noise = self._gp.noise_at(features, prediction, self._jobs())
            draws += np.sqrt(noise)[..., None] * rng.standard_normal(draws.shape)
        return draws[:, 0] if self._y_shape == () else draws

    def decompose(self, X: Any, *, y_pred: Any = None) -> Decomposition:
        """How much of each correction comes from the input kernel, and how much from the output kernel.

        The kernel is a sum, so the correction is one too. The output part is a function of the prediction alone.
        """
        features, prediction = self._inputs(X, y_pred)
        input_part, output_part = (
            self._gp.part(name, features, prediction, self._jobs()) for name in ("input", "output")
        )
        constant = self._gp.targets.offset + self._base(prediction) - prediction
        if self._gp.posterior.kernel.part("output"):
            output_part += constant
        else:
            input_part += constant
        return Decomposition(self._shaped(input_part), self._shaped(output_part))

    def _is_cross_fit(self, n_rows: int, y_pred: Any, held_out: Any) -> bool:
        """Whether the residuals are those of clones of the model, fitted to other rows."""
        if self.residuals == "auto":
            enough = not isinstance(self.cv, int | np.integer) or n_rows >= 2 * self.cv
            return y_pred is None and held_out is None and enough and base_model.needs_fit(self.estimator)
        if self.residuals == "in-sample":
            return False
        for given, name in ((y_pred, "y_pred"), (held_out, "held_out")):
            if given is not None:
                raise ValueError(
                    f"{name} was given, and residuals='cross-fit' makes predictions of its own, all of them for rows "
                    f"that the model has not seen: leave {name} out, or use residuals='in-sample'"
                )
        check_can_be_refitted(self.estimator)
        return True

    def _cross_fit(
        self, X: Any, outcome: Array, weight: Array | None, features: Array, groups: Any, rng: np.random.Generator
    ) -> Array:
        """Out-of-fold predictions (n, q), NaN for rows that no fold predicts; sets ``estimator_``."""
        (X,) = indexable(X)
        folds = make_folds(self.cv, X, outcome, features, groups, weight, rng)
        found = out_of_fold(self.estimator, X, outcome, weight, folds)
        if self.combine == "average":
            self.estimator_ = FoldAverage(found.models)
        else:
            self.estimator_ = base_model.fitted(self.estimator, X, outcome, weight)
        return found.prediction

    def _settings(self, n_features: int) -> Settings:
        inducing = self.inducing
        if not isinstance(inducing, str):
            inducing = to_numeric(inducing, "inducing")
            n_columns = n_features + self._n_outputs
            if inducing.ndim != 2 or inducing.shape[1] != n_columns or not len(inducing):
                raise ValueError(
                    f"inducing has to have shape (m, {n_columns}): {n_features} standardised features and "
                    f"{self._n_outputs} standardised predictions a row; got {inducing.shape}"
                )
            check_finite(inducing, "inducing", "every point needs all of its coordinates")
        return Settings(
            inference=self.inference,
            n_inducing=self.n_inducing,
            inducing=inducing,
            optimize_inducing=self.optimize_inducing,
            max_iter=self.max_iter,
            tolerance=self.tol,
            subset_rows=None if self.starts == "unit" else Settings.subset_rows,
            verbose=self.verbose,
        )

    def _inputs(self, X: Any, y_pred: Any) -> tuple[Array, Array]:
        """The GP's features and the model's predictions for new rows."""
        check_is_fitted(self)
        features = self._features(X)
        validate_data(self, X, reset=False, skip_check_array=True)
        return features, self._predictions(X, y_pred)

    def _features(self, X: Any) -> Array:
        return np.empty((_num_samples(X), 0)) if self._extract is None else self._extract(X)

    def _predictions(self, X: Any, y_pred: Any) -> Array:
        """ŷ of shape (n, q)."""
        if y_pred is None and self.estimator_ is None:
            raise ValueError(
                "there is no model to ask for predictions: give RIORegressor an estimator, or give this method y_pred"
            )
        source = "y_pred" if y_pred is not None else "the model's prediction"
        values = y_pred if y_pred is not None else base_model.predictions(self.estimator_, X)
        return base_model.check_predictions(values, _num_samples(X), self._n_outputs, source)

    def _base(self, prediction: Array) -> Array:
        """What the GP's mean is added to."""
        return prediction if self._is_residual else np.zeros_like(prediction)

    def _shaped(self, values: Array) -> Array:
        """(n, q) as the shape of y."""
        return values[:, 0] if self._y_shape == () else values

    def _per_output(self, values: Array) -> Any:
        return float(values[0]) if self._y_shape == () else values

    def _jobs(self) -> int:
        return effective_jobs(self.n_jobs)

    def set_params(self, **params: Any) -> Self:
        """Set parameters; those of a fitted model stay as they are, since setting them would change the model."""
        model = params.get("estimator", self.estimator)
        nested = [name for name in params if name.startswith("estimator__")]
        if nested and not base_model.needs_fit(model):
            raise ValueError(
                f"{', '.join(nested)} cannot be set: the model is fitted, and RIO never changes a fitted model; give "
                "RIORegressor an unfitted one (sklearn.base.clone(model)) to search over its parameters"
            )
        super().set_params(**params)
        return self

    def __sklearn_clone__(self) -> Self:
        """A fitted model stays the one it is; the rest is cloned as usual."""
        params = self.get_params(deep=False)
        copies = {
            name: value if name == "estimator" and not base_model.needs_fit(value) else clone(value, safe=False)
            for name, value in params.items()
        }
        return type(self)(**copies)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = True
        tags.input_tags.sparse = False
        return tags
