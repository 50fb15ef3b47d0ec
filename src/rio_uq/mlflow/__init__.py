"""Regressors in MLflow: logged with what they gain, loaded again, served with error bars (extra ``rio-uq[mlflow]``)."""

from rio_uq.mlflow.flavor import _load_pyfunc, load_model, log_model, save_model

__all__ = ["_load_pyfunc", "load_model", "log_model", "save_model"]
