"""How the scale of a loss is chosen when gradients are float16."""

from mycel._mycel import entry
from mycel.nn.wrap import DynamicLossScaleUpdateCell, FixedLossScaleUpdateCell


class LossScaleManager:
    """Base of loss scale managers."""

    def get_loss_scale(self):
        """The scale now."""
        raise NotImplementedError(f"{type(self).__name__}: get_loss_scale is not written")

    def update_loss_scale(self, overflow):
        """Told of each step whether it overflowed."""
        raise NotImplementedError(f"{type(self).__name__}: update_loss_scale is not written")

    def get_update_cell(self):
        """The cell that does this inside a training step, or None."""
        raise NotImplementedError(f"{type(self).__name__}: get_update_cell is not written")


class FixedLossScaleManager(LossScaleManager):
    """A scale that stays. drop_overflow_update: a step with overflow changes nothing."""

    @entry
    def __init__(self, loss_scale=128.0, drop_overflow_update=True):
        if not isinstance(loss_scale, (int, float)) or loss_scale < 1:
            raise ValueError(
                f"FixedLossScaleManager: 'loss_scale' must be at least 1, got {loss_scale!r}"
            )
        self._loss_scale = float(loss_scale)
        self._drop_overflow_update = bool(drop_overflow_update)

    def get_loss_scale(self):
        """The scale."""
        return self._loss_scale

    def get_drop_overflow_update(self):
        """Whether a step with overflow changes nothing."""
        return self._drop_overflow_update

    def update_loss_scale(self, overflow):
        """Nothing: the scale stays."""

    def get_update_cell(self):
        """A cell when overflow is looked for, else None."""
        return FixedLossScaleUpdateCell(self._loss_scale) if self._drop_overflow_update else None


class DynamicLossScaleManager(LossScaleManager):
    """A scale that is divided by scale_factor on overflow and multiplied by it after scale_window
    steps without."""

    @entry
    def __init__(self, init_loss_scale=2**24, scale_factor=2, scale_window=2000):
        if init_loss_scale < 1 or scale_factor <= 0 or scale_window <= 0:
            raise ValueError(
                "DynamicLossScaleManager: 'init_loss_scale' must be at least 1, the others positive"
            )
        self.loss_scale = init_loss_scale
        self.scale_factor, self.scale_window = int(scale_factor), int(scale_window)
        self._good_steps = 0

    def get_loss_scale(self):
        """The scale now."""
        return self.loss_scale

    def get_drop_overflow_update(self):
        """True: a step with overflow changes nothing."""
        return True

    def update_loss_scale(self, overflow):
        """Told of each step whether it overflowed."""
        if overflow:
            self.loss_scale, self._good_steps = max(self.loss_scale / self.scale_factor, 1), 0
        else:
            self._good_steps += 1
            if self._good_steps >= self.scale_window:
                self.loss_scale, self._good_steps = self.loss_scale * self.scale_factor, 0

    def get_update_cell(self):
        """The cell that does the same inside a training step."""
        return DynamicLossScaleUpdateCell(self.loss_scale, self.scale_factor, self.scale_window)


__all__ = ["DynamicLossScaleManager", "FixedLossScaleManager", "LossScaleManager"]
