"""Greedy decoding with kept keys and values: each token goes through the network once."""

import numpy as np

from mycel.common import Tensor, dtype


def _ends(eos):
    if eos is None:
        return set()
    return set(eos) if isinstance(eos, (list, tuple)) else {eos}


class Greedy:
    """generate() for networks whose call gives (logits, kept) with `use_cache`."""

    def generate(self, input_ids, max_new_tokens=20, eos_token_id=None, pad_token_id=0):
        """input_ids [batch, time] with the tokens that score best behind them.

        A row that has given eos_token_id (one or several) goes on with pad_token_id; decoding ends
        when all rows have. Rows must be of one length: there is no padding in front.
        """
        ids = np.asarray(input_ids.asnumpy())
        if ids.ndim != 2 or ids.shape[1] == 0:
            raise ValueError(f"generate: 'input_ids' must be [batch, time], got {ids.shape}")
        ends, done = _ends(eos_token_id), np.zeros(ids.shape[0], bool)
        step, kept = ids, None
        for _ in range(max_new_tokens):
            logits, kept = self(Tensor(step, dtype.int64), kept=kept, use_cache=True)
            best = logits.asnumpy()[:, -1].astype(np.float32).argmax(-1)
            best = np.where(done, pad_token_id, best)
            step = best[:, None].astype(ids.dtype)
            ids = np.concatenate([ids, step], axis=1)
            done |= np.isin(best, list(ends))
            if done.all():
                break
        return Tensor(ids, dtype.int64)
