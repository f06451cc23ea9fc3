"""Errors of mycel.mindrecord. Each is an error of Python too, so that either can be caught."""


class MindRecordException(Exception):
    """Base of all of them."""

    _text = "MindRecord failed."

    def __init__(self, detail=""):
        detail = f" Detail: {detail}" if detail else ""
        super().__init__(f"[{type(self).__name__}]: {self._text}{detail}")


def _errors():
    kinds = {
        RuntimeError: {
            "UnknownError": "Unknown Error.",
            "MRMSetHeaderError": "Failed to set header.",
            "MRMWriteDatasetError": "Failed to write dataset.",
            "MRMCommitError": "Failed to commit.",
            "MRMLaunchError": "Failed to launch.",
            "MRMFinishError": "Failed to finish.",
            "MRMCloseError": "Failed to close.",
            "MRMAddSchemaError": "Failed to add schema.",
            "MRMAddIndexError": "Failed to add index field.",
            "MRMBuildSchemaError": "Failed to build schema.",
            "MRMGetMetaError": "Failed to get meta info.",
            "MRMIndexGeneratorError": "Failed to create index generator.",
            "MRMGenerateIndexError": "Failed to generate index.",
            "MRMInitSegmentError": "Failed to initialize segment.",
            "MRMFetchCandidateFieldsError": "Failed to fetch candidate category fields.",
            "MRMReadCategoryInfoError": "Failed to read category information.",
            "MRMFetchDataError": "Failed to fetch data by category.",
        },
        ValueError: {
            "ParamValueError": "Param value is error.",
            "ParamMissError": "Param missing.",
            "MRMInvalidPageSizeError": "Failed to set page size.",
            "MRMInvalidHeaderSizeError": "Failed to set header size.",
            "MRMInvalidSchemaError": "Schema format is error.",
            "MRMValidateDataError": "Raw data do not match the schema.",
            "MRMDefineIndexError": "Failed to define index field.",
            "MRMDefineBlobError": "Failed to define blob field.",
            "MRMUnsupportedSchemaError": "Schema is not supported.",
            "MRMDefineCategoryError": "Failed to define category field.",
        },
        TypeError: {"ParamTypeError": "Param type is error."},
        OSError: {
            "PathNotExistsError": "Path does not exist.",
            "DbConnectionError": "Db connection is error.",
            "MRMOpenError": "MindRecord could not open.",
            "MRMOpenForAppendError": "MindRecord could not open for append.",
        },
    }
    return {
        name: type(name, (MindRecordException, base), {"_text": text, "__module__": __name__})
        for base, texts in kinds.items()
        for name, text in texts.items()
    }


globals().update(_errors())
__all__ = ["MindRecordException", *_errors()]
