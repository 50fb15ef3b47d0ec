"""A regressor in Python beside the same one as an ONNX graph in onnxruntime, on one thread each.

    python -m benchmarks.onnx run
    python -m benchmarks.onnx page

Mean and std of rows whose predictions are known: the time of the model itself is in neither.
"""
