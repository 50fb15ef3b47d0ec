"""Terms."""

from rio_uq.gp.kernels.terms import Term


def test_parameter_names_match_the_parameters():
    assert Term("rational_quadratic", "input", 0, 2, ard=True).parameter_names == (
        "variance",
        "lengthscale",
        "lengthscale",
        "shape",
    )
    assert Term("linear", "output", 0, 3).n_parameters == 1
