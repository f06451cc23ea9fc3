"""Datasets for training loops that users write: a dataset's rows as a network takes them."""

from mycel._mycel import entry
from mycel.dataset.datasets import Dataset
from mycel.nn.cell import Cell
from mycel.train.sinks import check_size


class DatasetHelper:
    """The batches of a dataset, to be looped over again for each epoch.

    dataset_sink_mode: batches stay inside; each turn of the loop gives an empty tuple, for a
    network of connect_network_with_dataset, which takes the next batch by itself. sink_size: turns
    in an epoch then; -1 for all batches of the dataset. epoch_num: epochs that will be asked for.
    """

    @entry
    def __init__(self, dataset, dataset_sink_mode=True, sink_size=-1, epoch_num=1):
        if not isinstance(dataset, Dataset):
            raise TypeError(f"DatasetHelper: 'dataset' must be a Dataset, got {dataset!r}")
        check_size("DatasetHelper", sink_size)
        if isinstance(epoch_num, bool) or not isinstance(epoch_num, int) or epoch_num < 1:
            raise ValueError(f"DatasetHelper: 'epoch_num' must be an int above 0, got {epoch_num}")
        self.dataset, self.dataset_sink_mode = dataset, bool(dataset_sink_mode)
        self._sink_size, self._epochs = sink_size, epoch_num
        self._rows = None

    def __iter__(self):
        if not self.dataset_sink_mode:
            return iter(self.dataset.create_tuple_iterator(num_epochs=1))
        return iter(((),) * self.sink_size())

    @entry
    def sink_size(self):
        """Turns of the loop in an epoch; 1 without dataset_sink_mode."""
        if not self.dataset_sink_mode:
            return 1
        return self.dataset.get_dataset_size() if self._sink_size < 0 else self._sink_size

    @entry
    def types_shapes(self):
        """(dtypes, shapes) of a batch's columns."""
        return self.dataset.output_types(), self.dataset.output_shapes()

    def get_data_info(self):
        """As types_shapes()."""
        return self.types_shapes()

    def next_batch(self):
        """The next batch, of the next epoch when this one has ended."""
        row = None if self._rows is None else next(self._rows, None)
        if row is None:
            self._rows = iter(self.dataset.create_tuple_iterator(num_epochs=1))
            row = next(self._rows, None)
        if row is None:
            raise RuntimeError("DatasetHelper: the dataset gives no batches")
        return row

    def stop_send(self):
        """Drops what has been read ahead: the next batch is an epoch's first."""
        self._rows = None

    def release(self):
        """As stop_send()."""
        self._rows = None

    def continue_send(self):
        """Nothing: reading goes on when a batch is asked for."""


class _Connected(Cell):
    """A network that takes its inputs from a dataset."""

    def __init__(self, network, helper):
        super().__init__(auto_prefix=False)
        self.network = network
        self.__dict__["_helper"] = helper

    def __call__(self, *inputs):
        if inputs:
            raise ValueError(
                "connect_network_with_dataset: the network takes its inputs from the dataset"
            )
        return self.network(*self._helper.next_batch())


@entry
def connect_network_with_dataset(network, dataset_helper):
    """A network that is called without inputs and takes the next batch of the helper's dataset
    each time. The helper must be in dataset_sink_mode."""
    if not isinstance(network, Cell):
        raise TypeError(f"connect_network_with_dataset: 'network' must be a Cell, got {network!r}")
    if not isinstance(dataset_helper, DatasetHelper):
        raise TypeError(
            f"connect_network_with_dataset: 'dataset_helper' must be a DatasetHelper, got "
            f"{dataset_helper!r}"
        )
    if not dataset_helper.dataset_sink_mode:
        raise RuntimeError("connect_network_with_dataset: the helper is not in dataset_sink_mode")
    return _Connected(network, dataset_helper)


__all__ = ["DatasetHelper", "connect_network_with_dataset"]
