"""RIORegressor: error bars and corrections for a regression model, as a scikit-learn estimator."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils import Tags, check_random_state
from sklearn.utils.metadata_routing import MetadataRouter
from sklearn.utils.validation import check_is_fitted

from rio_uq import around_model, calibrating, fitting, rejection, storage
from rio_uq._base.array import Array, Mask
from rio_uq._base.checks import check_choice, check_count, check_levels, check_target
from rio_uq._base.warnings import NotStoredWarning, warn_user
from rio_uq.answers import Decomposition, ErrorBars, Inputs, LeaveOneOut
from rio_uq.calibration.calibration import CROSS_CONFORMAL, Calibration, calibration_of
from rio_uq.calibration.shape import Shape
from rio_uq.features.extractors import Transformed
from rio_uq.fitted import Fitted
from rio_uq.gp.backend.threads import effective_jobs
from rio_uq.gp.without_model import ModelChoice
from rio_uq.models import base as base_model
from rio_uq.models.residual_choice import ResidualChoice
from rio_uq.options import Options, Training, paper_parameters
from rio_uq.rows.contract import Part, Source, names_columns
from rio_uq.rows.frames import frame_like
from rio_uq.rows.memory import MemorySource
from rio_uq.rows.parquet import parquet_writer
from rio_uq.rows.source import check_in_memory, is_in_parts, row_source
from rio_uq.rows.tables import TableSource
from rio_uq.scales.choice import ScaleChoice
from rio_uq.summary import Summary, summarize
from rio_uq.trainer import warn_unless_converged


class RIORegressor(MetaEstimatorMixin, RegressorMixin, BaseEstimator):
    """Residual estimation with an I/O kernel: error bars and corrections for a model that you already have.

    A Gaussian process is fitted to the residuals ``y − ŷ`` of a model. Its kernel looks at the model's inputs and at
    its output. Predictions of the model are then corrected by the residual that the GP expects, and come with the
    uncertainty of what is left. The model itself is not changed, retrained or looked into.

    Residuals have to be those of rows that the model has not seen, or error bars are too small. A model that is not
    fitted yet is therefore cross-fitted. Whether a fitted one has seen the rows is found out, and if it has, residuals
    are out-of-bag or out-of-fold, see ``residuals_``. A function, a network or predictions in a column cannot be asked:
    say ``held_out=True`` in `fit` if the rows are new.

    Parameters
    ----------
    estimator : estimator, callable or None
        The model: anything with a ``predict`` method, or a function from X to predictions. A fitted model is used as
        it is. A scikit-learn estimator that is not fitted is cloned and fitted; one that does not show that it is
        fitted (no attribute ends in "_") can be wrapped in `sklearn.frozen.FrozenEstimator`. None if predictions are
        given as ``y_pred`` to every method, or if the GP does without them (``target="outcome", kernel="input"``).
    target : {"residual", "outcome"}
        What the GP is fitted to; "outcome" ignores the predictions but in the output kernel.
    kernel : {"io", "input", "output"}
        What the kernel looks at: the model's inputs and output, or one of them.
    input_kernel, output_kernel : str
        "rbf", "matern12", "matern32", "matern52", "rational_quadratic", "linear", or a sum such as "rbf+linear". With a
        linear part in the output kernel the GP learns how much of the model's output to keep, see ``trust_``. The input
        kernel "auto" is "matern52" and, above 2,000 rows in memory, the likeliest of the three Matérn kernels by rows
        that are left out.
    ard : bool
        One lengthscale for each feature.
    features : "auto", None, list of columns, transformer or callable
        What the GP sees of X. None is X itself, which has to be numeric. "auto" is the same, but for a frame with
        categories, text, missing values or dates: then it is what the steps of the model make of it, if that is a
        Pipeline and they make numbers of it, or else what `rio_uq.features.TableEncoder` does. Or some of the columns,
        by name or number; the output of a transformer; any function of X, such as a layer of a network. The model
        always gets X as it is.
    residuals : {"auto", "in-sample", "cross-fit"}
        Which residuals the GP is fitted to: those of the model itself on the rows given to `fit`, or out-of-fold
        residuals, each by a clone that was fitted without the row. "auto" cross-fits a model that is not fitted yet (if
        there are four rows or more), and finds out whether a fitted one has seen the rows: from what it stores of its
        training, or from clones fitted to folds of the rows. If it has seen some of them, residuals are out-of-bag or
        out-of-fold; if they are new, they are the model's own.
    cv : int, cross-validation splitter or iterable
        The folds of cross-fitting. A number of them keeps copies of a row together; linear models with nearly as many
        coefficients as rows get more, so that clones are like the model. Many folds make error bars narrower than they
        should be: clones that lack a few rows tell the outcomes of these. A splitter may leave rows
        unpredicted (`sklearn.model_selection.TimeSeriesSplit` does): the GP is fitted to the others.
    combine : {"auto", "average", "refit"}
        The model that predicts after cross-fitting: the mean of the models of the folds, or one model on all rows (a
        fitted one as it is, an unfitted one fitted to them). "auto" is the model itself if it was fitted, and if not
        the mean, unless folds differ in size as those of a time series do.
    inference : {"auto", "exact", "sparse", "svgp", "nearest"}
        "auto" is exact up to 2,000 rows; above, rows that are left out choose between "nearest" and "sparse"
        (``inference_`` says which). "nearest" learns hyperparameters from 2,000 rows and predicts each row from the
        training rows nearest to it (`Training.n_neighbors`): it sees what is rough in many rows. "sparse" has inducing
        points in place of rows: it predicts fastest, and can be exported to ONNX. "svgp" learns from batches of rows,
        as in the paper, and comes close to the optimum that "sparse" finds, which is usually there sooner.
    n_inducing : int or "auto"
        Number of inducing points of sparse inference. "auto" adds points while the bound says that they pay, up to
        1,000: few where the residual is smooth, many where it is rough. Exact inference has none, and ignores it.
    noise : {"io", "constant", "student"}
        What the noise of outcomes is like. "io" finds out: whether it depends on the model's inputs and output, by a
        second GP on leave-one-out residuals, and whether its tails are so heavy that rows far from what the GP expects
        should count less, by a Student likelihood that has to predict left-out rows better. Without evidence it is
        normal, with one variance for all rows. "student" takes the Student likelihood in any case, and "constant" takes
        noise to be normal and the same for all rows.
    distribution : {"auto", "normal", "student"}
        The shape of the distribution of an outcome around the corrected prediction. "student" learns how heavy its
        tails are from the scores of left-out rows (``loo_.z``), "normal" takes it to be normal. "auto" also looks for
        skew, and takes the shape to be normal where more than 2,000 rows show nothing else; fewer cannot exclude tails
        that are a little heavier. Corrected predictions are the same in all cases.
    scale : {"auto", "identity", "log", "sqrt", "logit"} or transformer
        The scale that residuals are taken on. On "log" they are log y − log ŷ: errors grow with the prediction, as
        those of prices and durations do. "sqrt" suits counts, "logit" shares between 0 and 1. A transformer of
        scikit-learn with an inverse is fitted to y. Intervals and quantiles are mapped back and stay in the range of
        outcomes; means, standard deviations and densities are those of outcomes. "auto" compares the scales on which
        all outcomes and predictions have their place by the density of left-out rows, and stays with "identity" unless
        another is clearly better, or is better by a standard error and intervals would leave the range of outcomes
        otherwise. Rows that are read in parts stay with it too. Predictions of new rows beyond the range of a scale
        count as half as far from its bound as the nearest outcome in `fit`.
    bounds : pair or None
        The range of outcomes, ``(0, None)`` for prices, say. Intervals stay within; "log" and "sqrt" are taken of the
        distance from the one bound, "logit" is between both. None for no bounds: those scales are then of outcomes
        above zero, or between 0 and 1.
    weights : {"relative", "counts"}
        What ``sample_weight`` says. "relative" weights say how much rows count beside each other, as those of surveys
        do: all of them times a factor give the same result. They are divided by their mean over rows, after rows of
        equal (x, ŷ, y) were merged; but where features are so coarse and outcomes so discrete that rows are equal by
        chance, every row is a measurement of its own. "counts" are numbers of measurements: a row of weight 90 is
        ninety of them.
    max_iter : int
        Iterations of the optimiser at most, in the search for the best start and on all rows; passes over the rows
        in "svgp".
    tol : float
        Relative gain in likelihood of an iteration below which the optimiser has converged.
    training : None, Training or dict
        How the GP is trained: starts, priors, choice of inducing points, memory and precision, see `rio_uq.Training`.
    n_jobs : int or None
        Threads; None for as many as BLAS would use, -1 for all processors. Sparse inference and prediction share their
        rows among them, exact inference its starts.
    random_state : int, RandomState or None
        For the subset of rows in the first stage, random starts and inducing points.
    verbose : bool
        Show a progress bar on standard error.

    Attributes
    ----------
    fitted_ : Fitted
        All that was learnt, as one frozen object; the attributes below look things up in it.
    estimator_ : object
        The fitted model.
    trust_, trust_std_ : float or (q,) array
        How much of the model's output the corrected prediction keeps: 1 plus the slope of the output part of the
        correction on ŷ, with its posterior standard deviation. Near 1 for a good model, near 0 for a useless one, NaN
        where ŷ is constant.
    correction_ : float or (q,) array
        The share of the GP's correction that predictions get, between 0 and 1: as much as left-out rows support. 1 in
        most fits, and 0 where residuals are nothing but noise.
    model_choice_ : ModelChoice or None
        Whether predictions use the model, with ``error`` and ``error_without_model``: root mean squared errors of
        left-out rows by RIO and by a plain GP on outcomes, which takes over where it is clearly better; ``gain`` is the
        share of ``error`` that the model itself is expected to have, where that is of clones and has counted, and
        ``stray`` the share of its predictions outside the range of its clones', where that has decided. None where they
        were not compared: in sparse inference, without time, with groups or folds of your own, and where ``target``,
        ``kernel`` or ``training`` ask for a part of the method.
    hyperparameters_ : dict
        Variances and lengthscales of each part of the kernel, in the units of the data.
    noise_variance_ : float or (q,) array
        Variance of what cannot be predicted, in the units of y²; that of a typical row (the geometric mean over the
        rows given to `fit`) where it depends on the row.
    bound_ : float
        Log marginal likelihood, or its lower bound in sparse inference; in "nearest" that of the rows that
        hyperparameters come from, times how many more there are.
    inference_ : {"exact", "sparse", "nearest"} or None
        How the GP predicts; None after `rio_uq.load` of a file without what it takes to add rows.
    n_inducing_ : int
        Number of inducing points; of training rows in exact inference, and of those that hyperparameters come from in
        "nearest".
    n_iter_ : int
        Iterations of the optimiser on all rows.
    converged_ : bool
        Whether the optimiser stopped because nothing was left to gain within ``tol``.
    residuals_ : ResidualChoice
        Which residuals the GP was fitted to, whether the model has seen the rows, and the evidence.
    calibration_ : Calibration or None
        What `calibrate` has learnt: its method, its groups, the rows of each (``n_rows``, and ``n_effective`` where
        they have weights), and the factors on the std. None again after `partial_fit`.
    loo_ : LeaveOneOut
        Leave-one-out predictions ``mean``, ``std`` and scores ``z`` = (y − mean)/std of the rows given to `fit`, in
        their order and of the shape of y: each as predicted without the row, at the hyperparameters of all rows; and
        the ``weight`` by which rows tell of rows to come. These
        are closed forms: nothing is refitted. Copies of a row are left out together. NaN for rows
        without weight or without an out-of-fold prediction. Not there for rows that were read in parts, after
        `partial_fit`, and after `rio_uq.load`, since files do not hold it.
    scale_ : ScaleChoice
        The scale of each output, and the evidence for it. ``trust_``, ``hyperparameters_``, ``noise_variance_``,
        ``bound_`` and ``loo_.z`` are on that scale.
    shape_ : Shape or None
        How outcomes are distributed around corrected predictions, for each output; None for ``distribution="normal"``.
    features_ : object or None
        The transformer, the function or the list of columns that makes the GP's features of X; None for all of X.
    metadata_ : dict
        What was given to `save` as ``metadata``, after `rio_uq.load`.
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
    >>> model = Ridge().fit(X[:100], y[:100])
    >>> rio = RIORegressor(model, random_state=0).fit(X[:100], y[:100])
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
        input_kernel: str = "auto",
        output_kernel: str = "rbf+linear",
        ard: bool = True,
        features: Any = "auto",
        residuals: str = "auto",
        cv: Any = 5,
        combine: str = "auto",
        inference: str = "auto",
        n_inducing: int | str = 300,
        noise: str = "io",
        distribution: str = "auto",
        scale: Any = "auto",
        bounds: Any = None,
        weights: str = "relative",
        max_iter: int = 200,
        tol: float = 1e-5,
        training: Training | dict[str, Any] | None = None,
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
        self.noise = noise
        self.distribution = distribution
        self.scale = scale
        self.bounds = bounds
        self.weights = weights
        self.max_iter = max_iter
        self.tol = tol
        self.training = training
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
            Further parameters of the constructor, such as ``features`` or ``n_jobs``. A dict as ``training`` is
            added to that of the paper.

        Examples
        --------
        >>> rio = RIORegressor.paper(variant="R+I")
        >>> rio.target, rio.kernel, rio.n_inducing
        ('residual', 'input', 50)
        """
        return cls(estimator, ard=ard, **paper_parameters(variant, options))

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        y_pred: Any = None,
        sample_weight: Any = None,
        held_out: Any = None,
        groups: Any = None,
        **fit_params: Any,
    ) -> Self:
        """Fit the GP to the residuals of the model, and first the model itself if it needs it.

        Parameters
        ----------
        X : array or frame of shape (n, d), or anything that the model and ``features`` take
            Or rows that need not fit into memory: a path of a Parquet file or folder, a ``pyarrow`` Table or Dataset,
            a `rio_uq.rows.ArrowRows`, a memory map, a Dask array or data frame. They are read in blocks, and so is
            the model called, which has to be fitted. From a sample of them
            (`Training.sample_rows`) all is learnt but the posterior, which all of them enter. Where nearest rows
            predict, it keeps their features, predictions and residuals.
        y : array of shape (n,) or (n, q)
            Or the name of a column, or a list of names, of a frame, a Parquet file or an Arrow table; also below.
        y_pred : array of the shape of y, optional
            Predictions of the model for X, if they are known already, or if they should be others than the model's own
            (out-of-fold predictions, say).
        sample_weight : array of shape (n,), optional
            How much each row counts, see the option ``weights``; only ratios matter. A row of weight two is the same as
            that row twice. Copies of a row are one measurement, with more weight beside others, and are left out
            together. Also given to a model that is fitted here, if it takes weights.
        held_out : bool or array of bool of shape (n,), optional
            The rows that a fitted model was not trained on: True for all of them, False for none, or a mask, of the
            validation rows of a network, say. With a mask the GP learns two noise variances, and uses that of the
            held-out rows for predictions; rows with a copy among the others do not count as held out.
        groups : array of shape (n,), optional
            The person, machine or place that each row belongs to, if error bars are to hold at new ones: rows of a
            group are left out together, by the folds of the model (those of a splitter ``cv``, or ``cv`` folds of
            whole groups) and by those of the GP, whatever the residuals are. A group for each row, ``range(n)``, says
            that rows are independent; without groups the order of the rows may show that they are not.
        **fit_params
            Further parameters for ``fit`` of a model that is fitted here: ``eval_set``, ``callbacks``, the weights of a
            step of a Pipeline (``ridge__sample_weight``). Those with an entry for each row are cut into folds as the
            rows are. With ``sklearn.set_config(enable_metadata_routing=True)`` the model gets what it has asked for,
            ``sample_weight`` included.

        Returns
        -------
        self
        """
        options = replace(self._options(), fit_params=around_model.model_fit_params(self, sample_weight, fit_params))
        roles = {"y": y, "y_pred": y_pred, "sample_weight": sample_weight, "groups": groups}
        is_of_all = isinstance(held_out, bool | np.bool_)
        source = self._training_source(X, roles if is_of_all else {**roles, "held_out": held_out})
        fitted = fitting.fit(source, options, held_out=bool(held_out) if is_of_all else None)
        warn_unless_converged(fitted.gp)
        self.fitted_ = fitted  # only now: an error on the way leaves an earlier fit as it was
        return self

    def partial_fit(self, X: Any, y: Any, *, y_pred: Any = None, sample_weight: Any = None) -> Self:
        """Add rows to what the GP knows, without training it again. Before the first `fit` this is `fit`.

        The result is that of all rows at once with the same hyperparameters. What stays as `fit` has learnt it: the
        model ``estimator_`` (which predicts the new rows and has not seen them, so that their residuals are honest),
        hyperparameters, noise and how it depends on the row, the shape of the distribution of outcomes, scalings and
        inducing points. What follows the new rows:
        corrections, error bars, ``bound_``, ``trust_`` and the rows of `summary`. A calibration is dropped with a
        warning, since it was that of another GP: `calibrate` again, on rows that are in neither.

        If rows come from elsewhere than those of `fit`, or are many more, fit anew: hyperparameters may have become
        wrong, and inducing points may lie where there are no rows. Memory and time stay the same with every batch in
        sparse inference; in exact inference they grow with the square of the rows: above 4 GiB there is a warning, and
        an error above what the machine has.

        Parameters
        ----------
        X, y, y_pred, sample_weight : as in `fit`
            New rows only. Their weights are in the unit of those of `fit`: a row of the mean weight there is one
            measurement. Copies among new rows, and of rows given before, count as often as they come.

        Returns
        -------
        self

        Examples
        --------
        >>> import numpy as np
        >>> from rio_uq import RIORegressor
        >>> rng = np.random.default_rng(0)
        >>> X = rng.uniform(size=(300, 1))
        >>> y = np.sin(6.0 * X[:, 0]) + 0.1 * rng.normal(size=300)
        >>> rio = RIORegressor(lambda X: 0.0 * X[:, 0], random_state=0).fit(X[:50], y[:50])
        >>> before = rio.predict(X, return_std=True, include_noise=False)[1].mean()
        >>> rio = rio.partial_fit(X[50:], y[50:])
        >>> after = rio.predict(X, return_std=True, include_noise=False)[1].mean()
        >>> bool(after < 0.6 * before)
        True
        """
        if not self.__sklearn_is_fitted__():
            return self.fit(X, y, y_pred=y_pred, sample_weight=sample_weight)
        source = self._source(X, y=y, y_pred=y_pred, sample_weight=sample_weight)
        fitted = fitting.partial_fit(self.fitted_, source, self._options())
        if self.calibration_ is not None:
            warn_user(
                "new rows have changed the GP, so its calibration is dropped: calibrate again, on rows that were "
                "given neither to fit nor to partial_fit"
            )
        self.fitted_ = fitted
        return self

    def calibrate(
        self,
        X: Any = None,
        y: Any = None,
        *,
        method: str = "conformal",
        y_pred: Any = None,
        groups: Any = None,
        X_new: Any = None,
        y_pred_new: Any = None,
    ) -> Self:
        """Set error bars right on rows that neither the model nor the GP has seen. Predictions stay as they are.

        Intervals are wide where RIO's are wide: calibration says by how much all of them have to be wider or narrower.
        What it has learnt takes the place of the shape that `fit` has learnt by ``distribution``.

        Parameters
        ----------
        X, y : as in `fit`, but in memory
            Rows as good as those to come: drawn alike, and used for nothing before. None for "cross-conformal".
        method : {"conformal", "conformal-asymmetric", "cross-conformal", "variance", "isotonic"}
            "conformal" intervals hold the outcome with the probability asked for, or a little more, whatever the noise,
            if calibration rows and new rows are exchangeable. "conformal-asymmetric" says so of each tail for itself,
            for skewed noise, and needs about twice as many rows. "cross-conformal" needs no further rows: it takes the
            rows of `fit`, each predicted by a GP that was trained without its fold. That is right to a few percent in
            simulations, but **not guaranteed**. "variance" learns one factor on the std, which a few
            dozen rows are enough for, and leaves the distribution normal. "isotonic" learns the whole distribution,
            with neither a guarantee nor a limit to the levels. Outcomes beyond the range of the ``scale`` count as
            outside of every interval in conformal methods, with a warning, and are errors in the other two.
        y_pred : array of the shape of y, optional
            The model's predictions for X, if they are known already.
        groups : array of shape (n,), optional
            Labels of groups of rows, each of which is calibrated for itself, so that intervals hold as often as they
            should in every one of them. Error bars then need the groups of the rows that they are for. The rows are
            those of X, or those of `fit` for "cross-conformal".
        X_new : as X, optional
            Rows to come, without outcomes, if they are distributed in another way than calibration rows (covariate
            shift). Calibration rows then count by how much more often rows like them are to come, which logistic
            regression on the GP's features and the model's predictions tells; see ``calibration_.n_effective``. For
            conformal methods. The guarantee is as good as these weights, and is lost where the relation of y to X has
            changed too.
        y_pred_new : array, optional
            The model's predictions for X_new, if they are known already.

        Returns
        -------
        self

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from sklearn.linear_model import Ridge
        >>> from rio_uq import RIORegressor
        >>> X, y = load_diabetes(return_X_y=True)
        >>> rio = RIORegressor(Ridge(), random_state=0).fit(X[:30], y[:30]).calibrate(X[200:300], y[200:300])
        >>> rio.calibration_
        Calibration(method='conformal', groups=None)
        >>> rio.predict_interval(X[300:], confidence_level=0.9).shape
        (142, 2)
        """
        check_is_fitted(self)
        if method == CROSS_CONFORMAL:
            calibrating.check_no_rows(X, y, y_pred)
            rows = calibrating.rows_of_fit(self.fitted_, groups)
        else:
            calibrating.check_has_rows(X)
            part = self._part(X, y=y, y_pred=y_pred, groups=groups)
            rows = calibrating.fresh_rows(self.fitted_, part, method, self._n_jobs())
        if X_new is None and y_pred_new is not None:
            raise ValueError("y_pred_new are predictions for X_new: give both, or neither")
        if X_new is not None:
            rows = rows.weighted_as(self.inputs(X_new, y_pred=y_pred_new))
        calibration = calibration_of(rows.scores, method=method, groups=rows.groups, weight=rows.weight)
        self.fitted_ = replace(self.fitted_, calibration=calibration)
        return self

    def predict(
        self,
        X: Any,
        *,
        y_pred: Any = None,
        groups: Any = None,
        return_std: bool = False,
        return_cov: bool = False,
        include_noise: bool = True,
        point: str = "mean",
    ) -> Any:
        """Corrected predictions and, if asked for, their uncertainty.

        Parameters
        ----------
        X : as in `fit`
        y_pred : array of shape (n,) or (n, q), optional
            The model's predictions for X, if they are known already.
        groups : array of shape (n,), optional
            The group of each row, if error bars were calibrated by group; the mean does not depend on it.
        return_std : bool
            Return the standard deviation as well. It is that of an outcome y, noise included, unless ``include_noise``
            is False: then that of the mean of outcomes at X. It is the GP's own times a factor, near one, that the
            shape of the distribution brings along, see ``shape_``. After `calibrate` the factor is another one:
            "variance" learns the factor itself; after "isotonic" the std is that of the recalibrated distribution;
            conformal forms have intervals but no std, so it is half the width of the calibrated 68.27 % interval, as
            in a normal distribution. The factor is the same with and without noise, which outcomes cannot tell apart.
        return_cov : bool
            Return the covariance between the rows of X instead, with the noise on its diagonal or without, and with
            the same factors. Not on another scale of outcomes than their own.
        include_noise : bool
        point : {"mean", "median"}
            The prediction: the mean of outcomes, which has the smallest squared error, or their median, which has the
            smallest absolute error. They differ on another scale of outcomes than their own, and where these are
            skewed.

        Returns
        -------
        mean : array of shape (n,) or (n, q)
        std : array of the same shape
            If ``return_std``.
        cov : array of shape (n, n) or (n, n, q)
            If ``return_cov``.
        """
        check_choice(point, "point", ("mean", "median"))
        if return_std and return_cov:
            raise ValueError("return_std and return_cov were both True: ask for one of them at a time")
        source = self._source(X, y_pred=y_pred, groups=groups)
        if return_cov and not source.is_in_memory:
            raise ValueError("return_cov is a matrix of all rows by all rows: give X as an array, for a few of them")
        return self._answer(
            Fitted.predict,
            source,
            return_std=return_std,
            return_cov=return_cov,
            include_noise=include_noise,
            point=point,
        )

    def predict_residual(
        self,
        X: Any,
        *,
        y_pred: Any = None,
        groups: Any = None,
        return_std: bool = False,
        include_noise: bool = True,
    ) -> Any:
        """The correction alone: corrected prediction minus prediction, and if asked for the standard deviation, which
        is that of `predict`.
        """
        source = self._source(X, y_pred=y_pred, groups=groups)
        return self._answer(Fitted.correction, source, return_std=return_std, include_noise=include_noise)

    def decompose(self, X: Any, *, y_pred: Any = None) -> Decomposition:
        """How much of each correction comes from the input kernel, and how much from the output kernel.

        The kernel is a sum, so the correction is one too. The output part is a function of the prediction alone.
        """
        parts: Decomposition = self._answer(Fitted.decompose, self._source(X, y_pred=y_pred))
        return parts

    def predict_interval(
        self, X: Any, confidence_level: Any = 0.95, *, y_pred: Any = None, groups: Any = None
    ) -> Array:
        """Intervals that hold the outcome with the given probability.

        Parameters
        ----------
        X, y_pred, groups : as in `predict`
        confidence_level : float or list of k floats
            Between 0 and 1.

        Returns
        -------
        array of shape (n, 2), or (n, 2, k) for a list
            Lower and upper bounds; for y of shape (n, q), (n, q, 2) or (n, q, 2, k).
        """
        levels = check_levels(confidence_level, "confidence_level")
        ends = np.stack([0.5 - 0.5 * levels, 0.5 + 0.5 * levels])
        return self._quantiles(X, ends, y_pred, groups)

    def predict_frame(self, X: Any, confidence_level: Any = 0.95, *, y_pred: Any = None, groups: Any = None) -> Any:
        """Corrected predictions, standard deviations and intervals as a data frame, a line for each row of X.

        Its columns are ``mean``, ``std``, ``lower`` and ``upper``. For a list of levels the bounds are ``lower_0.9``,
        ``upper_0.9``, and so on; for several outputs all columns are numbered, ``mean_0`` or ``lower_0_0.9``.

        Parameters
        ----------
        X, y_pred, groups : as in `predict`
            X has to be in memory.
        confidence_level : float or list of floats
            Of the intervals, see `predict_interval`.

        Returns
        -------
        DataFrame
            Of polars if X is, or else of pandas, with the index of X where it has one. As for transformers of
            scikit-learn, ``sklearn.set_config(transform_output=...)`` chooses the library for all of them.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from sklearn.linear_model import Ridge
        >>> from rio_uq import RIORegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> rio = RIORegressor(Ridge(), random_state=0).fit(X[:30], y[:30])
        >>> rio.predict_frame(X[300:302], confidence_level=[0.5, 0.9]).columns.tolist()
        ['mean', 'std', 'lower_0.5', 'upper_0.5', 'lower_0.9', 'upper_0.9']
        """
        levels = check_levels(confidence_level, "confidence_level")
        inputs = self.inputs(X, y_pred=y_pred, groups=groups)
        n_jobs, n_rows, q = self._n_jobs(), len(inputs.y_pred), self.fitted_.n_outputs
        mean, std = self.fitted_.predict(inputs, n_jobs, return_std=True)
        ends = np.stack([0.5 - 0.5 * levels, 0.5 + 0.5 * levels]).reshape(2, -1)
        bounds = self.fitted_.quantiles(inputs, n_jobs, probabilities=ends).reshape(n_rows, q, 2, -1)
        columns = {("mean", ""): mean.reshape(n_rows, q), ("std", ""): std.reshape(n_rows, q)}
        for place, level in enumerate(levels.ravel()):
            suffix = f"_{level:.12g}" if levels.ndim else ""
            columns |= {(end, suffix): bounds[:, :, i, place] for i, end in enumerate(("lower", "upper"))}
        numbers = [f"_{i}" for i in range(q)] if self.fitted_.y_shape else [""]
        return frame_like(
            X,
            {
                f"{name}{number}{suffix}": values[:, i]
                for (name, suffix), values in columns.items()
                for i, number in enumerate(numbers)
            },
        )

    def predict_quantiles(
        self, X: Any, quantiles: Any = (0.05, 0.5, 0.95), *, y_pred: Any = None, groups: Any = None
    ) -> Array:
        """Quantiles of the outcome.

        Parameters
        ----------
        X, y_pred, groups : as in `predict`
        quantiles : float or list of k floats
            Between 0 and 1.

        Returns
        -------
        array of the shape of the prediction, with a last axis of length k for a list
        """
        return self._quantiles(X, check_levels(quantiles, "quantiles"), y_pred, groups)

    def _quantiles(self, X: Any, probabilities: Array, y_pred: Any, groups: Any) -> Array:
        source = self._source(X, y_pred=y_pred, groups=groups)
        quantiles: Array = self._answer(Fitted.quantiles, source, probabilities=probabilities)
        return quantiles

    def predict_dist(self, X: Any, *, y_pred: Any = None, groups: Any = None) -> Any:
        """The distribution of each outcome.

        A frozen `scipy.stats.norm` if `fit` has found a normal shape, and after ``calibrate(method="variance")``.
        Otherwise an object with the same methods: ``pdf``, ``logpdf``, ``cdf``, ``sf``, ``ppf``, ``interval``,
        ``median``, ``mean``, ``std``, ``var`` and ``rvs``. After the other methods of `calibrate` there is no density,
        and there are no draws.
        """
        inputs = self.inputs(X, y_pred=y_pred, groups=groups)
        return self.fitted_.distribution(inputs, self._n_jobs())

    def sample_y(
        self,
        X: Any,
        n_samples: int = 1,
        random_state: Any = 0,
        *,
        y_pred: Any = None,
        groups: Any = None,
        include_noise: bool = True,
    ) -> Array:
        """Joint draws of the outcomes at the rows of X.

        Latent values, which rows share, are drawn from the GP, which is normal. To each comes noise with the shape that
        `fit` has learnt, drawn for each row and output by itself. Variances are those of `predict`; quantiles of draws
        are those of `predict_quantiles` where noise makes up most of the variance, and nearer to normal elsewhere.
        After ``calibrate(method="variance")`` their deviations from the mean are multiplied by its factor. Other
        methods calibrate each outcome for itself and do not say how outcomes go together: draws are then refused.

        Returns
        -------
        array of shape (n, n_samples) or (n, q, n_samples)
        """
        check_count(n_samples, "n_samples", at_least=1)
        inputs = self.inputs(X, y_pred=y_pred, groups=groups)
        rng = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
        return self.fitted_.sample(inputs, self._n_jobs(), n_samples=n_samples, rng=rng, include_noise=include_noise)

    def predict_to_parquet(
        self,
        X: Any,
        output: str | os.PathLike[str],
        *,
        y_pred: Any = None,
        groups: Any = None,
        confidence_level: float | None = None,
        include_noise: bool = True,
    ) -> Path:
        """Write corrected predictions and their standard deviations to a Parquet file, a line for each row of X.

        Its columns are ``mean`` and ``std``, with a ``confidence_level`` also ``lower`` and ``upper``; for several
        outputs ``mean_0``, ``mean_1``, and so on. Rows are in the order of X. The file takes its name when all is
        written: an error leaves what was there before. Needs the extra ``rio-uq[parquet]``.

        Parameters
        ----------
        X : path, pyarrow.Table, pyarrow.dataset.Dataset, ArrowRows or memory map
        output : path
        y_pred, groups : name of a column of X, or array of shape (n,), optional
            As in `predict`.
        confidence_level : float, optional
            Of intervals, see `predict_interval`.
        include_noise : bool
            As in `predict`.

        Returns
        -------
        Path
            Of the file.
        """
        check_is_fitted(self)
        if confidence_level is not None and check_levels(confidence_level, "confidence_level").ndim:
            raise ValueError(f"confidence_level has to be one number here, 0.95 say; got {confidence_level!r}")
        if not is_in_parts(X):
            raise TypeError(
                f"X has to be the path of a Parquet file, an Arrow table or dataset, or a memory map; got a "
                f"{type(X).__name__}, which is in memory: use predict, and write what it returns"
            )
        source = self._source(X, y_pred=y_pred, groups=groups)
        if not isinstance(source, TableSource):
            raise TypeError("predict_to_parquet reads files and memory maps: use predict for X of Dask")
        if source.is_read_from(Path(output)):
            raise ValueError(f"the predictions would replace the rows that they are for: {os.fspath(output)!r} is X")
        level = None if confidence_level is None else float(confidence_level)
        columns_of = partial(
            _predicted_columns, level=level, include_noise=include_noise, n_jobs=source.n_jobs(self.n_jobs)
        )
        with parquet_writer(output) as append:
            for columns in source.each(columns_of, self.fitted_):
                append(columns)
        return Path(output)

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, y_pred: Any = None) -> float:
        """R² of the corrected predictions, as of any regressor of scikit-learn.

        Parameters
        ----------
        X : as in `predict`
        y : array of shape (n,) or (n, q)
            Outcomes in memory, also where X is a file.
        sample_weight : array of shape (n,), optional
        y_pred : as in `predict`, optional
        """
        for name, values in (("y", y), ("sample_weight", sample_weight)):
            if names_columns(values):
                raise TypeError(
                    f"{name} has to be an array in score, and not the name of a column; got {values!r}: read the "
                    "column first (pandas.read_parquet(path, columns=[...]), say)"
                )
        mean = np.asarray(self.predict(X, y_pred=y_pred))
        return float(r2_score(np.asarray(y), mean, sample_weight=sample_weight))

    def summary(self, X: Any = None, *, y_pred: Any = None) -> Summary:
        """Summary of the fit, in numbers and, printed, in words.

        Parameters
        ----------
        X : as in `fit`, but in memory, optional
            Rows to speak about: how residuals are made up and where the model errs depends on them. By default those
            given to `fit` and `partial_fit`, or 2,000 of them.
        y_pred : array of shape (n,) or (n, q), optional
            The model's predictions for X, if they are known already.

        Returns
        -------
        Summary

        Examples
        --------
        >>> import numpy as np
        >>> from rio_uq import RIORegressor
        >>> rng = np.random.default_rng(0)
        >>> X = rng.uniform(size=(60, 2))
        >>> y = X[:, 0] + np.sin(5.0 * X[:, 1]) + 0.1 * rng.normal(size=60)
        >>> rio = RIORegressor(lambda X: X[:, 0], random_state=0).fit(X, y)
        >>> summary = rio.summary()
        >>> summary.features[0].name, round(summary.noise_std, 1)
        ('x1', 0.1)
        """
        check_is_fitted(self)
        rows = self.fitted_.kept
        if X is None and y_pred is not None:
            raise ValueError("y_pred are predictions for X: give both, or neither for the rows of fit")
        if X is not None:
            inputs = self.inputs(X, y_pred=y_pred)
            rows = replace(rows, features=inputs.features, y_pred=inputs.y_pred, weight=np.ones(len(inputs.y_pred)))
        return summarize(self.fitted_, rows, self._n_jobs())

    def reject(
        self,
        X: Any,
        *,
        threshold: Any = None,
        budget: float | None = None,
        target_error: float | None = None,
        calibration: Any = None,
        y_pred: Any = None,
        groups: Any = None,
    ) -> Mask:
        """The rows whose predictions are better looked at by a person, by one of three rules.

        Parameters
        ----------
        X, y_pred, groups : as in `predict`
        threshold : float or (q,) array
            Reject where the standard deviation of the outcome is larger than this.
        budget : float
            Keep this share of rows, those with the smallest standard deviations; rows that share the last one of them
            are kept too. The rows are those of X; or those of ``calibration``, from which the threshold is then taken.
        target_error : float
            Keep as many rows as possible with a mean absolute error of at most this, on the rows of ``calibration``.
            Rows with a larger standard deviation than all of those kept there are rejected.
        calibration : (X, y), (X, y, y_pred) or (X, y, y_pred, groups)
            Rows that neither the model nor `fit` has seen. ``budget`` looks at X alone, so y may be None.

        Returns
        -------
        array of bool of shape (n,)
            True for rows to be looked at. With several outputs a row is as safe as its least safe output, measured in
            units of each output's noise (by ``threshold``: in those of y).

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from sklearn.linear_model import Ridge
        >>> from rio_uq import RIORegressor
        >>> X, y = load_diabetes(return_X_y=True)
        >>> rio = RIORegressor(Ridge(), random_state=0).fit(X[:30], y[:30])
        >>> int(rio.reject(X[300:400], budget=0.9).sum())
        10
        """
        rules = {"threshold": threshold, "budget": budget, "target_error": target_error}
        rejection.check_rules(rules, calibration)
        std = np.asarray(self.predict(X, y_pred=y_pred, groups=groups, return_std=True)[1])  # lazy where X is of Dask
        if threshold is not None:
            return rejection.rowwise(std > rejection.check_threshold(threshold, std.shape[1:]))
        score = rejection.unsafety(std, self.noise_variance_)
        if budget is not None:
            reference = score if calibration is None else self._calibration_rows(calibration)[0]
            share = rejection.check_number(budget, "budget", 1.0)
            return score > rejection.threshold_for_budget(reference, share)
        reference, error = self._calibration_rows(calibration)
        if error is None:
            raise ValueError("target_error needs the outcomes of the calibration rows: their y was None")
        target = rejection.check_number(target_error, "target_error", np.inf)
        return score > rejection.threshold_for_error(reference, error, target)

    def _calibration_rows(self, calibration: Any) -> tuple[Array, Array | None]:
        """How unsafe each calibration row is, and its absolute error if its outcome is known, both (n,)."""
        if not isinstance(calibration, tuple | list) or len(calibration) not in (2, 3, 4):
            raise ValueError(
                "calibration has to be (X, y), or (X, y, y_pred) if there is no model to ask, or (X, y, y_pred, groups)"
                " if error bars were calibrated by group"
            )
        X, y, y_pred, groups = (*calibration, None, None)[:4]
        mean, std = map(np.asarray, self.predict(X, y_pred=y_pred, groups=groups, return_std=True))
        score = rejection.unsafety(std, self.noise_variance_)
        if y is None:
            return score, None
        outcome = check_target(y, len(mean))
        if outcome.size != mean.size:
            raise ValueError(f"y of calibration has shape {outcome.shape}, predictions have {mean.shape}")
        error = np.abs(outcome.reshape(mean.shape) - mean)
        return score, error if error.ndim == 1 else error.mean(axis=1)

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        estimator: Any = None,
        model_file: str | os.PathLike[str] | None = None,
        trusted: Sequence[str] = (),
        overwrite: bool = True,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        """Write what was learnt to a file that `rio_uq.load` reads, without pickle.

        The model is not part of it, unless a file of its own tool is put inside: a NotStoredWarning says so, and how
        `rio_uq.load` is given what is missing. What the model predicts for a few training
        rows is stored, so that `rio_uq.load` knows it again; not where X is neither an array of numbers nor a frame, or
        a frame with dates and the like: `rio_uq.load` then warns. The file holds training rows: exact inference needs
        all of them, sparse inference and `summary` some.

        Parameters
        ----------
        path : path
            ``model.rio``, say. The file is replaced in one step: a crash or a full disk leaves the old one.
        estimator : estimator or callable, optional
            The model that will be given to `rio_uq.load`. For a regressor that was fitted with ``y_pred`` alone; and
            of any other it says that the model is kept, so that there is no warning.
        model_file : path to a .onnx or .skops file, optional
            The model, stored by skops or as ONNX, to be put inside. Its predictions have to be those of the model.
        trusted : sequence of str
            Names of types that a skops file may hold beside those that skops knows to be safe.
        overwrite : bool
            Whether a file of that name may be replaced.
        metadata : dict, optional
            Anything that JSON has a form for: where the data came from, say. It is ``metadata_`` after `rio_uq.load`,
            and is written again if that is saved.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> import numpy as np, rio_uq
        >>> from sklearn.linear_model import LinearRegression
        >>> X = np.linspace(0.0, 1.0, 20)[:, None]
        >>> y = np.sin(6.0 * X[:, 0])
        >>> model = LinearRegression().fit(X, y)
        >>> rio = rio_uq.RIORegressor(model, random_state=0).fit(X, y)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     rio.save(pathlib.Path(folder, "model.rio"), estimator=model)
        ...     other = rio_uq.load(pathlib.Path(folder, "model.rio"), estimator=model)
        >>> bool(np.all(other.predict(X) == rio.predict(X)))
        True
        """
        check_is_fitted(self)
        fitted = self.fitted_ if metadata is None else replace(self.fitted_, metadata=metadata)
        storage.write(
            path,
            self.get_params(deep=False),
            fitted,
            model=estimator,
            model_file=model_file,
            trusted=trusted,
            overwrite=overwrite,
        )
        has_model = estimator is not None or model_file is not None
        left_out = storage.what_is_left_out(self.get_params(deep=False), fitted, os.fspath(path), has_model=has_model)
        if left_out is not None:
            warn_user(left_out, NotStoredWarning)

    def inputs(self, X: Any, *, y_pred: Any = None, groups: Any = None) -> Inputs:
        """Rows as the GP takes them: ``features`` and ``y_pred``, arrays of shape (n, d) and (n, q), and ``groups``.

        For whoever asks `fitted_` more than the methods here answer.

        Parameters
        ----------
        X, y_pred, groups : as in `predict`
            X has to be in memory.
        """
        part = self._part(X, y_pred=y_pred, groups=groups)
        return self.fitted_.inputs(part)

    def _part(self, X: Any, **roles: Any) -> Part:
        """Rows that have to be in memory, as those in `fit`."""
        check_is_fitted(self)
        check_in_memory(X)
        part = MemorySource(X, roles, self.fitted_.feature_names_in).part
        around_model.check_columns(self, self.fitted_, part.X)
        return part

    def _options(self) -> Options:
        return Options.of(self.get_params(deep=False))

    def get_metadata_routing(self) -> MetadataRouter:
        """The parameters that `fit` hands on to the model, for scikit-learn's metadata routing."""
        return around_model.routing_of(self)

    def _n_jobs(self) -> int:
        return effective_jobs(self.n_jobs)

    def _training_source(self, X: Any, roles: dict[str, Any]) -> Source:
        """Rows for `fit`; a memory map counts as memory for a model that is still to be fitted."""
        if isinstance(X, np.memmap) and base_model.needs_fit(self.estimator):
            return MemorySource(X, roles)
        names = getattr(self.estimator, "feature_names_in_", None)
        return row_source(X, roles, names, needs_columns=self.kernel != "output")

    def _source(self, X: Any, **roles: Any) -> Source:
        """New rows, with the columns of those in `fit`."""
        check_is_fitted(self)
        fitted = self.fitted_
        names: Sequence[str] | None = () if fitted.n_features_in == 0 else fitted.feature_names_in
        source = row_source(X, roles, names, needs_columns=fitted.gp.looks_at_features)
        if isinstance(source, MemorySource):
            around_model.check_columns(self, fitted, source.part.X)
        elif source.n_columns is not None and source.n_columns != fitted.n_features_in:
            raise ValueError(
                f"X has {source.n_columns} features, but {type(self).__name__} is expecting {fitted.n_features_in} "
                "features as input"
            )
        return source

    def _answer(self, answer: Callable[..., Any], source: Source, **options: Any) -> Any:
        """The answer of a method of `Fitted` for each row of a source, part by part."""
        fitted, options = self.fitted_, {"n_jobs": source.n_jobs(self.n_jobs), **options}

        def example() -> Any:
            kept = Inputs(fitted.kept.features[:1], fitted.kept.y_pred[:1])
            return answer(fitted.uncalibrated(), kept, **options)

        return source.rows(partial(_answer_part, answer, options), fitted, example)

    @property
    def estimator_(self) -> Any:
        return self._learnt("estimator_").model

    @property
    def features_(self) -> Any:
        extract = self._learnt("features_").extract
        return extract.transform if isinstance(extract, Transformed) else getattr(extract, "columns", None)

    @property
    def residuals_(self) -> ResidualChoice:
        choice = self._learnt("residuals_").residuals
        if choice is None:
            raise AttributeError("residuals_ is not there: a file of an earlier version does not say")
        return choice

    @property
    def calibration_(self) -> Calibration | None:
        return self._learnt("calibration_").calibration

    @property
    def loo_(self) -> LeaveOneOut:
        loo = self._learnt("loo_").loo
        if loo is None:
            raise AttributeError(
                "loo_ is there after fit to rows in memory, and not after partial_fit or load: call fit with all rows"
            )
        return loo

    @property
    def shape_(self) -> Shape | None:
        return self._learnt("shape_").shape

    @property
    def scale_(self) -> ScaleChoice:
        fitted = self._learnt("scale_")
        return fitted.scale_choice or ScaleChoice.of_outcomes_as_they_are(fitted.n_outputs)

    @property
    def model_choice_(self) -> ModelChoice | None:
        return self._learnt("model_choice_").model_choice

    @property
    def metadata_(self) -> Mapping[str, Any]:
        metadata = self._learnt("metadata_").metadata
        if metadata is None:
            raise AttributeError("metadata_ is there after load, if metadata was given to save")
        return metadata

    @property
    def trust_(self) -> Any:
        fitted = self._learnt("trust_")
        return fitted.per_output(fitted.gp.trust()[0])

    @property
    def trust_std_(self) -> Any:
        fitted = self._learnt("trust_std_")
        return fitted.per_output(fitted.gp.trust()[1])

    @property
    def correction_(self) -> Any:
        fitted = self._learnt("correction_")
        return fitted.per_output(fitted.gp.correction)

    @property
    def hyperparameters_(self) -> dict[str, dict[str, Any]]:
        return self._learnt("hyperparameters_").gp.hyperparameters()

    @property
    def noise_variance_(self) -> Any:
        fitted = self._learnt("noise_variance_")
        return fitted.per_output(fitted.gp.noise_variance)

    @property
    def bound_(self) -> float:
        return self._learnt("bound_").gp.bound

    @property
    def inference_(self) -> str | None:
        statistics = self._learnt("inference_").gp.posterior.statistics
        return None if statistics is None else statistics.kind

    @property
    def n_inducing_(self) -> int:
        return len(self._learnt("n_inducing_").gp.posterior.points)

    @property
    def n_iter_(self) -> int:
        return self._learnt("n_iter_").gp.n_iter

    @property
    def converged_(self) -> bool:
        return self._learnt("converged_").gp.converged

    @property
    def n_features_in_(self) -> int:
        n_features = self._learnt("n_features_in_").n_features_in
        if n_features is None:
            raise AttributeError("n_features_in_ is not there: X had no columns in fit")
        return n_features

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        names = self._learnt("feature_names_in_").feature_names_in
        if names is None:
            raise AttributeError("feature_names_in_ is not there: the columns of X had no names in fit")
        return np.array(names, dtype=object)

    def _learnt(self, name: str) -> Fitted:
        if not self.__sklearn_is_fitted__():
            raise AttributeError(f"{type(self).__name__} has no {name} before fit")
        return self.fitted_

    def __sklearn_is_fitted__(self) -> bool:
        return "fitted_" in vars(self)

    def set_params(self, **params: Any) -> Self:
        """Set parameters; those of a fitted model stay as they are, since setting them would change the model.

        Parameters of ``training`` can be set where it is None or a dict, too.
        """
        super().set_params(**around_model.settable(self, params))
        return self

    def __sklearn_clone__(self) -> Self:
        """A fitted model stays the one it is; the rest is cloned as usual."""
        copy: Self = around_model.copy_of(self)
        return copy

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = True
        tags.input_tags.sparse = False
        return tags


def load_regressor(
    path: str | os.PathLike[str],
    *,
    estimator: Any = storage.STORED,
    trusted: Sequence[str] = (),
    **parameters: Any,
) -> RIORegressor:
    """A saved regressor, see `rio_uq.load`; a ValueError where the file holds a classifier."""
    values, fitted = storage.read(path, model=estimator, trusted=trusted, parameters=parameters)
    if not isinstance(fitted, Fitted):
        raise ValueError(f"{os.fspath(path)} holds a classifier, and a regressor is needed here: use rio_uq.load")
    rio = RIORegressor(**values)
    rio.fitted_ = fitted
    return rio


def check_regressor(value: Any) -> None:
    """Raise unless the value is a fitted RIORegressor."""
    if not isinstance(value, RIORegressor):
        raise TypeError(f"a fitted RIORegressor is needed; got {value!r}")
    check_is_fitted(value)


def _answer_part(answer: Callable[..., Any], options: dict[str, Any], fitted: Fitted, part: Part) -> Any:
    return answer(fitted, fitted.inputs(part), **options)


def _predicted_columns(
    fitted: Fitted, part: Part, *, level: float | None, include_noise: bool, n_jobs: int
) -> dict[str, NDArray[Any]]:
    """Columns of a Parquet file: mean, std, and with a level lower, upper; numbered if there are several outputs."""
    inputs = fitted.inputs(part)
    if level is None:
        mean, std = fitted.predict(inputs, n_jobs, return_std=True, include_noise=include_noise)
        columns = {"mean": mean, "std": std}
    else:
        bars = fitted.error_bars(inputs, n_jobs, level=level, include_noise=include_noise)
        columns = {name: fitted.shaped(values) for name, values in zip(ErrorBars._fields, bars, strict=True)}
    if fitted.y_shape == ():
        return columns
    return {f"{name}_{i}": values[:, i] for name, values in columns.items() for i in range(fitted.n_outputs)}
