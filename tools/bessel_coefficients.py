"""Computes src/ops/elementwise/bessel_tables.h: Chebyshev series of the Bessel functions.

Each function is split where its character changes, freed of what is not smooth (logarithms, powers,
oscillation), and interpolated at Chebyshev nodes in 60 digits; terms below 1e-17 of the largest are
dropped. Run with mpmath installed: python
tools/bessel_coefficients.py > src/ops/elementwise/bessel_tables.h
"""

import mpmath as mp

mp.mp.dps = 60


def chebyshev(f, low, high, terms=64):
    """Coefficients of f over [low, high], the first one halved already."""
    nodes = [mp.cos(mp.pi * (k + mp.mpf(1) / 2) / terms) for k in range(terms)]
    values = [f((high - low) / 2 * t + (high + low) / 2) for t in nodes]
    series = []
    for j in range(terms):
        angle = [mp.cos(mp.pi * j * (k + mp.mpf(1) / 2) / terms) for k in range(terms)]
        series.append(2 * sum(v * a for v, a in zip(values, angle)) / terms)
    series[0] /= 2
    largest = max(abs(c) for c in series)
    while len(series) > 1 and abs(series[-1]) < mp.mpf("1e-17") * largest:
        series.pop()
    return series


def near(z):
    """Keeps limits at 0 out of trouble."""
    return z if z > mp.mpf("1e-40") else mp.mpf("1e-40")


def phase_parts(order):
    """P and Q of the oscillating region as functions of z = (8 / x)^2."""

    def parts(z):
        x = 8 / mp.sqrt(near(z))
        shift = x - (2 * order + 1) * mp.pi / 4
        j, y = mp.besselj(order, x), mp.bessely(order, x)
        scale = mp.sqrt(mp.pi * x / 2)
        return (
            scale * (j * mp.cos(shift) + y * mp.sin(shift)),
            scale * (y * mp.cos(shift) - j * mp.sin(shift)) * x / 8,
        )

    # Below this the asymptotic values are exact to the precision that is kept.
    limit = {0: (mp.mpf(1), mp.mpf(-1) / 64), 1: (mp.mpf(1), mp.mpf(3) / 64)}[order]

    def safe(z, which):
        return limit[which] if z < mp.mpf("1e-30") else parts(z)[which]

    return (lambda z: safe(z, 0)), (lambda z: safe(z, 1))


def tables():
    root = mp.sqrt
    p0, q0 = phase_parts(0)
    p1, q1 = phase_parts(1)
    yield (
        "kI0eSmall",
        "e^-x I0(x), x in [0, 8]",
        chebyshev(lambda x: mp.exp(-x) * mp.besseli(0, x), 0, 8),
    )
    yield (
        "kI0eLarge",
        "sqrt(x) e^-x I0(x) by 8/x in [0, 1]",
        chebyshev(
            lambda u: (
                root(8 / near(u)) * mp.exp(-8 / near(u)) * mp.besseli(0, 8 / near(u))
                if u > 1e-6
                else 1 / root(2 * mp.pi) * (1 + u / 64)
            ),
            0,
            1,
        ),
    )
    yield (
        "kI1eSmall",
        "e^-x I1(x) / x, x in [0, 8]",
        chebyshev(lambda x: mp.exp(-near(x)) * mp.besseli(1, near(x)) / near(x), 0, 8),
    )
    yield (
        "kI1eLarge",
        "sqrt(x) e^-x I1(x) by 8/x in [0, 1]",
        chebyshev(
            lambda u: (
                root(8 / near(u)) * mp.exp(-8 / near(u)) * mp.besseli(1, 8 / near(u))
                if u > 1e-6
                else 1 / root(2 * mp.pi) * (1 - 3 * u / 64)
            ),
            0,
            1,
        ),
    )
    yield (
        "kK0Small",
        "K0(x) + log(x/2) I0(x) by x^2 in [0, 4]",
        chebyshev(
            lambda z: (
                mp.besselk(0, root(near(z)))
                + mp.log(root(near(z)) / 2) * mp.besseli(0, root(near(z)))
            ),
            0,
            4,
        ),
    )
    yield (
        "kK0Large",
        "sqrt(x) e^x K0(x) by 2/x in [0, 1]",
        chebyshev(
            lambda u: (
                root(2 / near(u)) * mp.exp(2 / near(u)) * mp.besselk(0, 2 / near(u))
                if u > 1e-6
                else root(mp.pi / 2) * (1 - u / 16)
            ),
            0,
            1,
        ),
    )
    yield (
        "kK1Small",
        "x (K1(x) - log(x/2) I1(x)) by x^2 in [0, 4]",
        chebyshev(
            lambda z: (
                root(near(z))
                * (
                    mp.besselk(1, root(near(z)))
                    - mp.log(root(near(z)) / 2) * mp.besseli(1, root(near(z)))
                )
            ),
            0,
            4,
        ),
    )
    yield (
        "kK1Large",
        "sqrt(x) e^x K1(x) by 2/x in [0, 1]",
        chebyshev(
            lambda u: (
                root(2 / near(u)) * mp.exp(2 / near(u)) * mp.besselk(1, 2 / near(u))
                if u > 1e-6
                else root(mp.pi / 2) * (1 + 3 * u / 16)
            ),
            0,
            1,
        ),
    )
    yield (
        "kJ0Small",
        "J0(x) by x^2 in [0, 64]",
        chebyshev(lambda z: mp.besselj(0, root(near(z))), 0, 64),
    )
    yield (
        "kJ1Small",
        "J1(x) / x by x^2 in [0, 64]",
        chebyshev(lambda z: mp.besselj(1, root(near(z))) / root(near(z)), 0, 64),
    )
    yield (
        "kY0Small",
        "Y0(x) - 2/pi log(x) J0(x) by x^2 in [0, 64]",
        chebyshev(
            lambda z: (
                mp.bessely(0, root(near(z)))
                - 2 / mp.pi * mp.log(root(near(z))) * mp.besselj(0, root(near(z)))
            ),
            0,
            64,
        ),
    )
    yield (
        "kY1Small",
        "(Y1(x) - 2/pi (log(x) J1(x) - 1/x)) / x by x^2 in [0, 64]",
        chebyshev(
            lambda z: (
                (
                    mp.bessely(1, root(near(z)))
                    - 2
                    / mp.pi
                    * (mp.log(root(near(z))) * mp.besselj(1, root(near(z))) - 1 / root(near(z)))
                )
                / root(near(z))
            ),
            0,
            64,
        ),
    )
    yield "kP0", "P of order 0 by (8/x)^2 in [0, 1]", chebyshev(p0, 0, 1)
    yield "kQ0", "x/8 Q of order 0 by (8/x)^2 in [0, 1]", chebyshev(q0, 0, 1)
    yield "kP1", "P of order 1 by (8/x)^2 in [0, 1]", chebyshev(p1, 0, 1)
    yield "kQ1", "x/8 Q of order 1 by (8/x)^2 in [0, 1]", chebyshev(q1, 0, 1)


def main():
    print(
        "// Chebyshev series of the Bessel functions in double precision, lowest term first. Computed by\n"  # noqa: E501
        "// tools/bessel_coefficients.py; do not edit.\n#pragma once\n\nnamespace mycel::ops::bessel {\n"  # noqa: E501
    )
    for name, what, series in tables():
        print(f"// {what}\ninline constexpr double {name}[] = {{")
        texts = [mp.nstr(c, 18) for c in series]
        for i in range(0, len(texts), 4):
            print("    " + ", ".join(texts[i : i + 4]) + ",")
        print("};")
    print("\n}  // namespace mycel::ops::bessel")


if __name__ == "__main__":
    main()
