"""`pip install .` into a fresh environment: what a user's machine sees of the wheel."""

import os
import shutil
import subprocess
import sys
import urllib.request
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = [pytest.mark.ci, pytest.mark.one_mode("about what is installed")]


def run(*command, **options):
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=False, **options
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """An environment with the wheel; its dependencies are lent by the one running the tests."""
    folder = tmp_path_factory.mktemp("wheel")
    venv.create(folder / "env", with_pip=False)
    site = Path(
        run(
            folder / "env/bin/python", "-c", "import site; print(site.getsitepackages()[0])"
        ).strip()
    )
    own_site = Path(pytest.__file__).parents[1]
    (site / "lent.pth").write_text(f"{own_site}\n")
    for library in Path(sys.prefix, "lib").glob("libdnnl.so*"):
        (folder / "env/lib" / library.name).symlink_to(library)
    # The compilers that CMake picks by itself: with Python's own choice (x86_64-linux-gnu-g++) the
    # compiler cache would know none of the objects of build/.
    compilers = {"CC": shutil.which("cc"), "CXX": shutil.which("c++")}
    run(
        *(sys.executable, "-m", "pip", "--python", folder / "env/bin/python", "install"),
        *("--no-deps", "--no-index", "--no-build-isolation", "--ignore-installed", ROOT),
        env={**os.environ, **compilers},
    )
    environment = {
        k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "LD_LIBRARY_PATH")
    }
    return folder / "env", site / "mycel", environment


def test_import(installed):
    env, package, environment = installed
    code = "import mycel; print(mycel.__version__); print(mycel.__file__)"
    version, file = run(env / "bin/python", "-c", code, env=environment, cwd="/").split()
    assert file == str(package / "__init__.py")
    assert f"VERSION {version} " in (ROOT / "CMakeLists.txt").read_text()


def test_command(installed):
    env, package, environment = installed
    assert (
        run(env / "bin/mycel", "--version", env=environment, cwd="/")
        .strip()
        .split()[-1][0]
        .isdigit()
    )


def test_contents(installed):
    _, package, _ = installed
    assert (package / "py.typed").is_file()
    assert list(package.glob("_mycel*.pyi")), "the generated stubs are missing"
    assert list(package.glob("_mycel*.so"))
    assert not list(package.rglob("*.cc"))


def test_cpp_program_builds_against_the_wheel(installed):
    _, package, environment = installed
    out = run(ROOT / "tests/install/run", "prefix", package, env=environment)
    assert out.count("shape (2, 3)") == 2


def test_pages_lie_inside(installed, tmp_path):
    """The server of the wheel serves what web/ was built to, where it was built."""
    env, _, environment = installed
    (tmp_path / "runs").mkdir()
    command = [str(env / "bin/mycel"), "insight", str(tmp_path / "runs"), "--port", "0"]
    process = subprocess.Popen(
        [*command, "--database", str(tmp_path / "index")],
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
        cwd="/",
    )
    try:
        with urllib.request.urlopen(process.stdout.readline().strip(), timeout=20) as answer:
            page = answer.read().decode()
    finally:
        process.terminate()
        process.wait(20)
        process.stdout.close()
    built = ROOT / "web" / "dist" / "index.html"
    assert page == built.read_text() if built.is_file() else "./dev web" in page
