"""Published paths of modules, such as mycel.nn.wrap.cell_wrapper: programs import names from them
that stand elsewhere here. Each is a module object that looks its names up in its home when asked;
an unknown name is the home's AttributeError."""

import importlib
import sys
import types

# package: (home, modules inside it). None of these is a file here.
_PACKAGES = {
    "nn": ("nn", "grad"),
    "nn.grad": ("nn", "cell_grad"),
    "nn.layer": (
        "nn",
        "activation basic channel_shuffle combined container conv dense embedding image lstm math"
        " normalization padding pooling rnn_cells rnns timedistributed transformer",
    ),
    "nn.loss": ("nn", "loss"),
    "nn.metrics": (
        "nn",
        "accuracy auc bleu_score confusion_matrix cosine_similarity dice error evaluation fbeta"
        " hausdorff_distance loss mean_surface_distance metric occlusion_sensitivity perplexity"
        " precision recall roc root_mean_square_surface_distance topk",
    ),
    "nn.optim": (
        "nn",
        "ada_grad adadelta adafactor adam adamax adasum asgd ftrl lamb lars lazyadam momentum"
        " optimizer proximal_ada_grad rmsprop rprop sgd",
    ),
    "nn.wrap": ("nn", "cell_wrapper grad_reducer loss_scale"),
    "ops": ("ops", "function functional operations"),
    "ops.composite": ("ops", "base math_ops random_ops vmap_impl"),
    "ops.function": (
        "ops",
        "array_func clip_func debug_func grad grad_func image_func linalg_func math_func nn_func"
        " other_func parameter_func random_func sparse_func sparse_unary_func spectral_func"
        " vmap_func",
    ),
    "ops.operations": (
        "ops",
        "array_ops comm_ops control_ops debug_ops image_ops linalg_ops math_ops nn_ops other_ops"
        " random_ops sparse_ops spectral_ops",
    ),
    "train": ("train", "dataset_helper metrics"),
    "train.summary": ("train.summary", "summary_record"),
    "train.callback": (
        "train",
        "_callback _checkpoint _early_stop _history _lambda_callback _loss_monitor"
        " _lr_scheduler_callback _reduce_lr_on_plateau _summary_collector _time_monitor",
    ),
}

# Modules of other places with names of their own.
_MODULES = {
    "ops.operations._grad_ops": "ops._grad_ops",
    "ops.operations._inner_ops": "ops._inner_ops",
}


class _Alias(types.ModuleType):
    """A module whose names are those of another."""

    def __init__(self, name, home):
        super().__init__(name, f"Names of {home}, under their published path.")
        self.__dict__["_home"] = home
        self.__path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(importlib.import_module(self._home), name)

    def __dir__(self):
        return dir(importlib.import_module(self._home))


def names_of(home):
    """A module's __getattr__ that finds what it does not have itself in `home`."""

    def find(name):
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(importlib.import_module(f"mycel.{home}"), name)

    return find


def install():
    """Makes the paths importable."""
    for package, (home, modules) in _PACKAGES.items():
        for module in modules.split():
            path = f"mycel.{package}.{module}"
            sys.modules.setdefault(path, _Alias(path, f"mycel.{home}"))
    for module, home in _MODULES.items():
        path = f"mycel.{module}"
        sys.modules.setdefault(path, _Alias(path, f"mycel.{home}"))
