"""RIORegressor: error bars and corrections for a regression model, as a scikit-learn estimator."""

from __future__ import annotations

import warnings
from copy import copy
from typing import Any, Self

import numpy as np
from sklearn.base import MetaEstimatorMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state, indexable
from sklearn.utils.validation import _num_samples, check_is_fitted, validate_data

from rio_uq._base.array import Array
from rio_uq._base.checks import check_choice, check_held_out, check_target, check_weight
from rio_uq.conventions import ConventionsMixin
from rio_uq.explain import ExplainMixin, keep_rows
from rio_uq.features.extractors import extractor
from rio_uq.gp.residual import KernelChoice, Problem, fit_residual_gp
from rio_uq.gp.rows import effective_jobs
from rio_uq.models import base as base_model
from rio_uq.models.cross_fitting import FoldAverage, check_groups_unused, is_cross_fit, make_folds, out_of_fold
from rio_uq.options import PAPER_SETTINGS, PAPER_VARIANTS, check_options, training_settings
from rio_uq.predictive import PredictiveMixin
from rio_uq.reject import RejectMixin
from rio_uq.rows.examples import sample_rows
from rio_uq.storage.regressor import PersistenceMixin
from rio_uq.streaming import ROLES, StreamingMixin
from rio_uq.updating import UpdateMixin


class RIORegressor(
    PredictiveMixin,
    UpdateMixin,
    StreamingMixin,
    ExplainMixin,
    RejectMixin,
    PersistenceMixin,
    MetaEstimatorMixin,
    RegressorMixin,
    ConventionsMixin,
):
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
        (if there are four rows or more), and takes a fitted one as it is.
    cv : int, cross-validation splitter or iterable
        The folds of cross-fitting. A number of them keeps copies of a row together. A splitter may leave rows
        unpredicted (`sklearn.model_selection.TimeSeriesSplit` does): the GP is fitted to the others.
    combine : {"average", "refit"}
        What predicts after cross-fitting: the mean of the models of the folds, or one model on all rows (a fitted one
        as it is, an unfitted one fitted to them).
    inference : {"auto", "exact", "sparse", "svgp"}
        "auto" is exact up to 2,000 rows and sparse above. "svgp" learns from batches of rows, as in the paper, and
        comes close to the optimum that "sparse" finds, which is usually there sooner.
    n_inducing : int or "auto"
        Number of inducing points of sparse inference. "auto" adds points while the bound says that they pay, up to
        1,000: few where the residual is smooth, many where it is rough. Exact inference has none, and ignores it.
    time_budget : float or None
        Seconds for training once a start is found, for "auto": no more points are chosen than one thread of an ordinary
        processor has the time for. It is an estimate, made without a clock, so that the same data give the same result.
        It does nothing in exact inference.
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
        Iterations of the optimiser at most, in the search for the best start and on all rows; passes over the rows
        in "svgp".
    tol : float
        Relative gain in likelihood of an iteration below which the optimiser has converged.
    dtype : {"float64", "float32"}
        Precision of the work on rows in sparse inference; "float32" is faster and less exact.
    low_memory : bool
        Recompute kernel matrices instead of keeping them: sparse inference in memory that does not grow with the rows.
    sample_rows : int
        Rows that hyperparameters, inducing points and noise are learnt from, drawn at random, where X is not in memory
        and has more of them.
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
    n_inducing_ : int
        Number of inducing points; of training rows in exact inference.
    n_iter_ : int
        Iterations of the optimiser on all rows.
    converged_ : bool
        Whether the optimiser stopped because nothing was left to gain within ``tol``.
    calibration_ : Calibration or None
        What `calibrate` has learnt: its method, its groups, the rows of each, and the factors on the std. None again
        after `partial_fit`.
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
        n_inducing: int | str = 300,
        time_budget: float | None = None,
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
        sample_rows: int = 20_000,
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
        self.time_budget = time_budget
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
        self.sample_rows = sample_rows
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
            Or rows that need not fit into memory: a path of a Parquet file or folder, a ``pyarrow`` Table or Dataset,
            a `rio_uq.rows.ArrowRows`, a memory map, a Dask array or data frame. They are read in blocks, and so is
            the model called, which has to be fitted. From ``sample_rows`` of them all is learnt but the posterior,
            which all of them enter.
        y : array of shape (n,) or (n, q)
            Or the name of a column, or a list of names, of a Parquet file, an Arrow table or a Dask frame; also below.
        y_pred : array of the shape of y, optional
            Predictions of the model for X, if they are known already, or if they should be others than the model's own
            (out-of-fold predictions, say).
        sample_weight : array of shape (n,), optional
            How often each row counts. A row of weight two is the same as that row twice. In exact inference copies
            count as one measurement where the noise and the other hyperparameters are learnt. Also given to a model
            that is fitted here, if it takes weights.
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
        given = dict(zip(ROLES, (y, y_pred, sample_weight, held_out, groups), strict=True))
        source = self._training_source(X, given)
        if source is None:
            fresh._fit(X, **given)
        else:
            fresh._fit_source(source)
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
        options = self.get_params(deep=False)
        check_options(options)
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
        n_counted = n_rows if weight is None else int(np.count_nonzero(weight))
        if is_cross_fit(self.residuals, self.cv, self.estimator, n_counted, y_pred, unseen):
            prediction = self._cross_fit(X, outcome, weight, features, groups, rng)
        else:
            check_groups_unused(groups)
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
            training_settings(options, features.shape[1], self._n_outputs),
            standardize_output=self.standardize_output,
            starts=self.starts,
            n_restarts=self.n_restarts,
            prior=self.prior,
            noise=self.noise,
            walk_options=self._walk_options(),
            rng=rng,
        )
        self._known_rows = keep_rows(features, prediction, weight, np.flatnonzero(kept), rng)
        self._sample = sample_rows(X)
        self._show_what_was_learnt()

    def _show_what_was_learnt(self) -> None:
        """The public attributes, from the GP."""
        self.n_inducing_ = len(self._gp.posterior.points)
        self.n_iter_ = self._gp.n_iter
        self.converged_ = self._gp.converged
        self.hyperparameters_ = self._gp.hyperparameters()
        self.noise_variance_ = self._per_output(self._gp.noise_variance)
        self._tell_of_rows()

    def _walk_options(self) -> dict[str, Any]:
        """How the engine walks over rows."""
        memory = {"cache_bytes": 0} if self.low_memory else {}
        return {"n_jobs": effective_jobs(self.n_jobs), "dtype": np.dtype(self.dtype), **memory}

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

    def _per_output(self, values: Array) -> Any:
        return float(values[0]) if self._y_shape == () else values


def check_regressor(value: Any) -> None:
    """Raise unless the value is a fitted RIORegressor."""
    if not isinstance(value, RIORegressor):
        raise TypeError(f"a fitted RIORegressor is needed; got {value!r}")
    check_is_fitted(value)
