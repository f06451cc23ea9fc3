"""Published names that are refused, with the reason. They can be imported, so that programs that
name one without using it run; using one is a NotImplementedError. docs/coverage.md lists them."""

_REFERENCE = "a part of the reference compiler; compiled code here has none of it"
_ASCEND = "registers kernels of Ascend, GPU and CPU plug-ins of the reference framework"
_PROCESSES = "needs several processes; there is one"
_SERVERS = "there are no parameter servers"
_TABLES = "there are no hash tables of parameters"
_THOR = "the second-order optimizer THOR is not here"
_STRATEGY = "parallel strategies are not searched or stored"
_LANDSCAPE = "landscapes of the loss are not computed"
_REWRITE = "networks are changed by subclassing, not by rewriting their source"
_OBFUSCATION = "obfuscated models are not supported"
# module: [(names, reason)]
REFUSED = {
    "mycel": [
        ("Node NodeType ScopedValue SymbolTree TreeNodeHelper", _REWRITE),
        ("JitConfig Int _NullType _null QuantDtype", _REFERENCE),
        ("ms_memory_recycle", "memory goes back when tensors go"),
        ("get_ps_context reset_ps_context set_ps_context", _SERVERS),
        ("get_algo_parameters reset_algo_parameters set_algo_parameters", _STRATEGY),
        ("shard rank_list_for_transform merge_pipeline_strategys", _STRATEGY),
        ("transform_checkpoint_by_rank transform_checkpoints", _STRATEGY),
    ],
    "mycel.dataset": [
        ("OBSMindDataset", "there is no client of that cloud store; MindDataset reads local files"),
        ("sync_wait_for_dataset", "it waits for files of OBSMindDataset"),
        ("GraphData", "graphs in MindRecord files are not read; mycel.dataset.Graph takes arrays"),
        ("ArgoverseDataset", "its trajectories need pandas: derive from InMemoryGraphDataset"),
    ],
    "mycel.context": [
        ("get_ps_context reset_ps_context set_ps_context", _SERVERS),
        ("get_offload_context set_offload_context", "tensors stay in memory"),
    ],
    "mycel.nn": [
        ("AdaSumByDeltaWeightWrapCell AdaSumByGradWrapCell", _PROCESSES),
        ("MicroBatchInterleaved PipelineCell VirtualDatasetCellTriple", _PROCESSES),
        ("Conv2dThor DenseThor EmbeddingLookupThor EmbeddingThor thor", _THOR),
        ("GetNextSingleOp", "mycel.connect_network_with_dataset feeds networks"),
        ("OcclusionSensitivity", "explanations are not here yet"),
    ],
    "mycel.ops": [
        ("AiCPURegOp AkgAscendRegOp AkgGpuRegOp CpuRegOp CustomRegOp TBERegOp DataType", _ASCEND),
        ("op_info_register custom_info_register", _ASCEND),
        ("BNTrainingReduce BNTrainingUpdate", "halves of BatchNorm for Ascend: use ops.BatchNorm"),
        (
            "Custom kernel ms_kernel",
            "operators in a language of their own are not here yet",
        ),
        ("FusedAdaFactor FusedAdaFactorWithGlobalNorm", "use nn.AdaFactor"),
        ("GetNext", "mycel.connect_network_with_dataset feeds networks"),
        ("MapCacheIdx make_map_parameter", _TABLES),
        ("NeighborExchange NeighborExchangeV2 _AllSwap distribute", _PROCESSES),
        ("Pull Push", _SERVERS),
        ("PyExecute", "Python functions between ops: call them in eager mode"),
        ("GeSwitch Merge SliceGetItem UpdateState _Grad _Vmap J", _REFERENCE),
        ("array_reduce array_to_scalar broadcast_gradient_args embed", _REFERENCE),
        ("env_get environ_add environ_create environ_get environ_set", _REFERENCE),
        ("geswitch get_grad get_vm_impl_fn merge ref_to_embed", _REFERENCE),
        ("is_dynamic_sequence_element_unknown is_sequence_shape_unknown", _REFERENCE),
        ("is_sequence_value_unknown is_tensor_bool_cond", _REFERENCE),
        ("switch switch_layer tensor_operator_registry tensor_range", _REFERENCE),
        ("tensor_slice vm_impl_registry", _REFERENCE),
    ],
    "mycel.train": [
        ("BackupAndRestore", "Model.train goes on from a checkpoint of ModelCheckpoint"),
        ("OnRequestExit", "Ctrl-C ends Model.train after the step; ModelCheckpoint saves"),
        ("ConvertModelUtils ConvertNetUtils", _THOR),
        ("OcclusionSensitivity", "explanations are not here yet"),
        ("SummaryLandscape", _LANDSCAPE),
        ("async_ckpt_thread_status", "checkpoints are written before training goes on"),
        ("build_searched_strategy merge_sliced_parameter restore_group_info_list", _STRATEGY),
        ("load_distributed_checkpoint", _PROCESSES),
        ("convert_model", "models are not converted to AIR and ONNX"),
        ("obfuscate_model", _OBFUSCATION),
        ("parse_print", "ops.Print writes to standard output"),
    ],
}


class Refused:
    """What stands for a published name that is refused."""

    def __init__(self, name, reason):
        self.name, self.reason = name, reason

    def __call__(self, *args, **kwargs):
        raise NotImplementedError(f"{self.name}: {self.reason}")

    def __getattr__(self, attribute):
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        raise NotImplementedError(f"{self.name}: {self.reason}")

    def __mro_entries__(self, bases):
        raise NotImplementedError(f"{self.name}: {self.reason}")

    def __repr__(self):
        return f"<{self.name}: refused, {self.reason}>"


_found = {
    (module, name): Refused(f"{module.removeprefix('mycel.')}.{name}", reason)
    for module, groups in REFUSED.items()
    for names, reason in groups
    for name in names.split()
}


def refused(module, name):
    """What stands for a refused name of a module, or None."""
    found = _found.get((module, name))
    if found is None and module == "mycel":  # what other modules refuse, by its short name
        return next((f for (_, n), f in _found.items() if n == name), None)
    return found
