"""Probability distributions and bijectors. The formulas are C++ records; Distribution and Bijector
are classes to derive from."""

from mycel.nn.probability import bijector, distribution
from mycel.nn.probability.bijector import Bijector
from mycel.nn.probability.distribution import Distribution, TransformedDistribution

__all__ = ["Bijector", "Distribution", "TransformedDistribution", "bijector", "distribution"]
