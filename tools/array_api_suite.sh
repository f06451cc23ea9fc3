#!/bin/sh
# Runs the public test suite of the Python array API standard (github: data-apis/array-api-tests)
# against mycel.array_api. The suite is not part of this repository: give the folder of a checkout,
# and what else pytest should get. Its own requirements (pytest, hypothesis) must be installed.
#   tools/array_api_suite.sh ../array-api-tests --max-examples 5
set -eu
suite=$1
shift
root=$(cd "$(dirname "$0")/.." && pwd)
export PYTHONPATH="${MYCEL_PYTHON_PATH:-$root/build/python}${PYTHONPATH:+:$PYTHONPATH}"
export ARRAY_API_TESTS_MODULE=mycel.array_api
cd "$suite"
exec "${PYTHON:-python3}" -m pytest -q array_api_tests "$@"
