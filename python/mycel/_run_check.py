"""Whether the installation works."""

from mycel._mycel import Tensor, entry


@entry
def run_check():
    """Multiplies two matrices and prints the version and whether the product is right."""
    import mycel

    a = Tensor([[1.0, 2.0], [3.0, 4.0]])
    right = (a @ a).tolist() == [[7.0, 10.0], [15.0, 22.0]]
    print(f"Mycel version: {mycel.__version__}")
    if not right:
        raise RuntimeError("run_check: a product of matrices is wrong: reinstall Mycel")
    print("The result of multiplication calculation is correct, Mycel is installed on CPU.")
