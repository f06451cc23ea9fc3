"""Sources with arguments, whose rows tools/make_source_golden.py takes from the oracle.

A case is (name, class, arguments); "@x" in an argument is the path of x among the tiny files.
Rows are compared in order (shuffle is off).
"""

from __future__ import annotations

import hashlib

import numpy as np

CASES: list[tuple[str, str, dict]] = [
    ("mnist_all", "MnistDataset", {"dataset_dir": "@mnist"}),
    ("mnist_train", "MnistDataset", {"dataset_dir": "@mnist", "usage": "train"}),
    ("fashion_test", "FashionMnistDataset", {"dataset_dir": "@mnist", "usage": "test"}),
    ("kmnist_all", "KMnistDataset", {"dataset_dir": "@mnist", "usage": "all"}),
    ("emnist_letters", "EMnistDataset", {"dataset_dir": "@emnist", "name": "letters"}),
    (
        "emnist_digits",
        "EMnistDataset",
        {"dataset_dir": "@emnist", "name": "digits", "usage": "train"},
    ),
    ("qmnist_all", "QMnistDataset", {"dataset_dir": "@qmnist"}),
    ("qmnist_nist", "QMnistDataset", {"dataset_dir": "@qmnist", "usage": "nist"}),
    (
        "qmnist_full_labels",
        "QMnistDataset",
        {"dataset_dir": "@qmnist", "usage": "train", "compat": False},
    ),
    ("tf_inferred", "TFRecordDataset", {"dataset_files": "@tfrecord/b.tfrecord"}),
    (
        "tf_two_files",
        "TFRecordDataset",
        {"dataset_files": ["@tfrecord/b.tfrecord", "@tfrecord/a.tfrecord"]},
    ),
    (
        "tf_columns",
        "TFRecordDataset",
        {"dataset_files": "@tfrecord/b.tfrecord", "columns_list": ["s", "i"]},
    ),
    (
        "tf_schema_list",
        "TFRecordDataset",
        {"dataset_files": "@tfrecord/b.tfrecord", "schema": "@tfrecord/list.json"},
    ),
    (
        "tf_schema_dict",
        "TFRecordDataset",
        {"dataset_files": "@tfrecord/b.tfrecord", "schema": "@tfrecord/dict.json"},
    ),
    (
        "tf_gzip",
        "TFRecordDataset",
        {"dataset_files": "@tfrecord/gzip.tfr", "compression_type": "GZIP"},
    ),
    (
        "tf_zlib",
        "TFRecordDataset",
        {"dataset_files": "@tfrecord/zlib.tfr", "compression_type": "ZLIB"},
    ),
    ("text", "TextFileDataset", {"dataset_files": ["@text/b.txt", "@text/a.txt"]}),
    ("text_glob", "TextFileDataset", {"dataset_files": "@text/*.txt"}),
    ("csv_header", "CSVDataset", {"dataset_files": "@csv/a.csv"}),
    ("csv_names", "CSVDataset", {"dataset_files": "@csv/b.csv", "column_names": ["a", "b", "c"]}),
    (
        "csv_defaults",
        "CSVDataset",
        {
            "dataset_files": "@csv/b.csv",
            "column_names": ["a", "b", "c"],
            "column_defaults": [1, 1.0, "x"],
        },
    ),
    (
        "csv_semicolon",
        "CSVDataset",
        {
            "dataset_files": "@csv/c.csv",
            "field_delim": ";",
            "column_names": ["a", "b"],
            "column_defaults": [1, ""],
        },
    ),
    ("folder", "ImageFolderDataset", {"dataset_dir": "@folder"}),
    (
        "folder_extensions",
        "ImageFolderDataset",
        {"dataset_dir": "@folder", "extensions": [".jpg", ".bmp"]},
    ),
    (
        "folder_classes",
        "ImageFolderDataset",
        {"dataset_dir": "@folder", "class_indexing": {"zeta": 7, "beta": 2}},
    ),
]

for _cls, _folder, _usages in [
    ("AGNewsDataset", "news", ["train", "test", "all"]),
    ("AmazonReviewDataset", "news", ["test", "all"]),
    ("DBpediaDataset", "news", ["train", "all"]),
    ("SogouNewsDataset", "news", ["train", "all"]),
    ("YahooAnswersDataset", "answers", ["train", "all"]),
    ("YelpReviewDataset", "yelp", ["train", "all"]),
    ("IMDBDataset", "imdb", ["train", "test", "all"]),
    ("PennTreebankDataset", "ptb", ["train", "valid", "all"]),
    ("WikiTextDataset", "wikitext", ["test", "valid", "all"]),
    ("CoNLL2000Dataset", "conll", ["train", "all"]),
    ("UDPOSDataset", "udpos", ["train", "valid", "all"]),
    ("SST2Dataset", "sst2", ["train", "dev", "test"]),
    ("SQuADDataset", "squad1", ["train", "dev", "all"]),
    ("SQuADDataset", "squad2", ["train", "all"]),
    ("Multi30kDataset", "multi30k", ["train", "valid", "all"]),
    ("IWSLT2016Dataset", "iwslt2016", ["train", "valid", "test", "all"]),
    ("IWSLT2017Dataset", "iwslt2017", ["train", "valid", "test", "all"]),
]:
    for _usage in _usages:
        CASES.append(
            (
                f"{_folder}_{_cls[:3]}_{_usage}",
                _cls,
                {"dataset_dir": f"@{_folder}", "usage": _usage},
            )
        )
CASES += [
    ("enwik9", "EnWik9Dataset", {"dataset_dir": "@enwik9"}),
    (
        "multi30k_pair",
        "Multi30kDataset",
        {"dataset_dir": "@multi30k", "usage": "test", "language_pair": ["de", "en"]},
    ),
    (
        "iwslt2016_sets",
        "IWSLT2016Dataset",
        {
            "dataset_dir": "@iwslt2016",
            "usage": "all",
            "language_pair": ["de", "en"],
            "valid_set": "dev2010",
            "test_set": "tst2010",
        },
    ),
]
for _task in ["AFQMC", "TNEWS", "IFLYTEK", "CMNLI", "WSC", "CSL"]:
    for _usage, _file in [("train", "train"), ("eval", "dev"), ("test", "test")]:
        CASES.append(
            (
                f"clue_{_task.lower()}_{_usage}",
                "CLUEDataset",
                {
                    "dataset_files": f"@clue/{_task.lower()}/{_file}.json",
                    "task": _task,
                    "usage": _usage,
                },
            )
        )

CASES += [
    ("voc_segmentation", "VOCDataset", {"dataset_dir": "@voc"}),
    (
        "voc_detection",
        "VOCDataset",
        {"dataset_dir": "@voc", "task": "Detection"},
    ),
    (
        "voc_detection_classes",
        "VOCDataset",
        {"dataset_dir": "@voc", "task": "Detection", "class_indexing": {"dog": 5}},
    ),
    ("celeba_all", "CelebADataset", {"dataset_dir": "@celeba"}),
    ("celeba_train", "CelebADataset", {"dataset_dir": "@celeba", "usage": "train"}),
    ("celeba_valid", "CelebADataset", {"dataset_dir": "@celeba", "usage": "valid"}),
    ("manifest_train", "ManifestDataset", {"dataset_file": "@manifest/all.manifest"}),
    (
        "manifest_eval",
        "ManifestDataset",
        {
            "dataset_file": "@manifest/all.manifest",
            "usage": "eval",
            "class_indexing": {"cat": 9, "dog": 1},
        },
    ),
    (
        "flickr",
        "FlickrDataset",
        {"dataset_dir": "@flickr/images", "annotation_file": "@flickr/captions.token"},
    ),
    ("stl10_train", "STL10Dataset", {"dataset_dir": "@stl10", "usage": "train"}),
    ("stl10_unlabeled", "STL10Dataset", {"dataset_dir": "@stl10", "usage": "unlabeled"}),
    ("stl10_all", "STL10Dataset", {"dataset_dir": "@stl10"}),
    ("food_train", "Food101Dataset", {"dataset_dir": "@food101", "usage": "train"}),
    ("food_all", "Food101Dataset", {"dataset_dir": "@food101"}),
    ("sun397", "SUN397Dataset", {"dataset_dir": "@sun397"}),
    ("caltech256", "Caltech256Dataset", {"dataset_dir": "@caltech256"}),
    ("places_train", "Places365Dataset", {"dataset_dir": "@places365"}),
    ("places_val", "Places365Dataset", {"dataset_dir": "@places365", "usage": "val"}),
    (
        "places_large",
        "Places365Dataset",
        {"dataset_dir": "@places365", "usage": "train-standard", "small": False},
    ),
    ("ljspeech", "LJSpeechDataset", {"dataset_dir": "@ljspeech"}),
    ("speech_train", "SpeechCommandsDataset", {"dataset_dir": "@speech", "usage": "train"}),
    ("speech_test", "SpeechCommandsDataset", {"dataset_dir": "@speech", "usage": "test"}),
    ("speech_all", "SpeechCommandsDataset", {"dataset_dir": "@speech"}),
    ("yesno", "YesNoDataset", {"dataset_dir": "@yesno"}),
    ("gtzan_all", "GTZANDataset", {"dataset_dir": "@gtzan"}),
    ("gtzan_train", "GTZANDataset", {"dataset_dir": "@gtzan", "usage": "train"}),
    ("cmuarctic", "CMUArcticDataset", {"dataset_dir": "@cmuarctic", "name": "bdl"}),
    ("libritts_dev", "LibriTTSDataset", {"dataset_dir": "@libritts", "usage": "dev-clean"}),
    ("libritts_all", "LibriTTSDataset", {"dataset_dir": "@libritts"}),
]
# Further data sets of pictures, in the files of tiny_vision.
CASES += [
    (
        "cityscapes_fine_train_instance",
        "CityscapesDataset",
        {
            "dataset_dir": "@cityscapes",
            "usage": "train",
            "quality_mode": "fine",
            "task": "instance",
        },
    ),
    (
        "cityscapes_fine_train_semantic",
        "CityscapesDataset",
        {
            "dataset_dir": "@cityscapes",
            "usage": "train",
            "quality_mode": "fine",
            "task": "semantic",
        },
    ),
    (
        "cityscapes_fine_train_polygon",
        "CityscapesDataset",
        {"dataset_dir": "@cityscapes", "usage": "train", "quality_mode": "fine", "task": "polygon"},
    ),
    (
        "cityscapes_fine_train_color",
        "CityscapesDataset",
        {"dataset_dir": "@cityscapes", "usage": "train", "quality_mode": "fine", "task": "color"},
    ),
    (
        "cityscapes_fine_all_semantic",
        "CityscapesDataset",
        {"dataset_dir": "@cityscapes", "usage": "all", "quality_mode": "fine", "task": "semantic"},
    ),
    (
        "cityscapes_coarse_train_extra_semantic",
        "CityscapesDataset",
        {
            "dataset_dir": "@cityscapes",
            "usage": "train_extra",
            "quality_mode": "coarse",
            "task": "semantic",
        },
    ),
    (
        "cityscapes_coarse_all_semantic",
        "CityscapesDataset",
        {
            "dataset_dir": "@cityscapes",
            "usage": "all",
            "quality_mode": "coarse",
            "task": "semantic",
        },
    ),
    (
        "div2k_train_bicubic_2",
        "DIV2KDataset",
        {"dataset_dir": "@div2k", "usage": "train", "downgrade": "bicubic", "scale": 2},
    ),
    (
        "div2k_valid_bicubic_8",
        "DIV2KDataset",
        {"dataset_dir": "@div2k", "usage": "valid", "downgrade": "bicubic", "scale": 8},
    ),
    (
        "div2k_all_unknown_3",
        "DIV2KDataset",
        {"dataset_dir": "@div2k", "usage": "all", "downgrade": "unknown", "scale": 3},
    ),
    (
        "div2k_train_mild_4",
        "DIV2KDataset",
        {"dataset_dir": "@div2k", "usage": "train", "downgrade": "mild", "scale": 4},
    ),
    (
        "div2k_all_difficult_4",
        "DIV2KDataset",
        {"dataset_dir": "@div2k", "usage": "all", "downgrade": "difficult", "scale": 4},
    ),
    (
        "div2k_valid_wild_4",
        "DIV2KDataset",
        {"dataset_dir": "@div2k", "usage": "valid", "downgrade": "wild", "scale": 4},
    ),
    (
        "div2k_all_bicubic_4",
        "DIV2KDataset",
        {"dataset_dir": "@div2k", "usage": "all", "downgrade": "bicubic", "scale": 4},
    ),
    ("kitti_train", "KITTIDataset", {"dataset_dir": "@kitti"}),
    ("kitti_test", "KITTIDataset", {"dataset_dir": "@kitti", "usage": "test"}),
    (
        "lfw_people_10fold",
        "LFWDataset",
        {"dataset_dir": "@lfw", "task": "people", "usage": "10fold"},
    ),
    ("lfw_people_train", "LFWDataset", {"dataset_dir": "@lfw", "task": "people", "usage": "train"}),
    ("lfw_people_test", "LFWDataset", {"dataset_dir": "@lfw", "task": "people", "usage": "test"}),
    ("lfw_people_all", "LFWDataset", {"dataset_dir": "@lfw", "task": "people", "usage": "all"}),
    ("lfw_pairs_10fold", "LFWDataset", {"dataset_dir": "@lfw", "task": "pairs", "usage": "10fold"}),
    ("lfw_pairs_train", "LFWDataset", {"dataset_dir": "@lfw", "task": "pairs", "usage": "train"}),
    ("lfw_pairs_test", "LFWDataset", {"dataset_dir": "@lfw", "task": "pairs", "usage": "test"}),
    ("lfw_pairs_all", "LFWDataset", {"dataset_dir": "@lfw", "task": "pairs", "usage": "all"}),
    ("lfw_original", "LFWDataset", {"dataset_dir": "@lfw", "image_set": "original"}),
    (
        "lfw_deep",
        "LFWDataset",
        {"dataset_dir": "@lfw", "image_set": "deepfunneled", "usage": "train"},
    ),
    ("lsun_train", "LSUNDataset", {"dataset_dir": "@lsun", "usage": "train"}),
    ("lsun_valid", "LSUNDataset", {"dataset_dir": "@lsun", "usage": "valid"}),
    ("lsun_test", "LSUNDataset", {"dataset_dir": "@lsun", "usage": "test"}),
    ("lsun_all", "LSUNDataset", {"dataset_dir": "@lsun", "usage": "all"}),
    (
        "lsun_classes",
        "LSUNDataset",
        {"dataset_dir": "@lsun", "usage": "train", "classes": ["classroom"]},
    ),
    (
        "lsun_classes_all",
        "LSUNDataset",
        {"dataset_dir": "@lsun", "classes": ["classroom", "bedroom"]},
    ),
    ("omniglot", "OmniglotDataset", {"dataset_dir": "@omniglot"}),
    ("omniglot_eval", "OmniglotDataset", {"dataset_dir": "@omniglot", "background": False}),
    ("phototour_train", "PhotoTourDataset", {"dataset_dir": "@phototour", "name": "liberty"}),
    (
        "phototour_test",
        "PhotoTourDataset",
        {"dataset_dir": "@phototour", "name": "liberty", "usage": "test"},
    ),
    (
        "rendered_sst2_train",
        "RenderedSST2Dataset",
        {"dataset_dir": "@rendered_sst2", "usage": "train"},
    ),
    (
        "rendered_sst2_test",
        "RenderedSST2Dataset",
        {"dataset_dir": "@rendered_sst2", "usage": "test"},
    ),
    ("rendered_sst2_val", "RenderedSST2Dataset", {"dataset_dir": "@rendered_sst2", "usage": "val"}),
    ("rendered_sst2_all", "RenderedSST2Dataset", {"dataset_dir": "@rendered_sst2", "usage": "all"}),
    ("sbu", "SBUDataset", {"dataset_dir": "@sbu"}),
    ("semeion", "SemeionDataset", {"dataset_dir": "@semeion"}),
    ("usps_train", "USPSDataset", {"dataset_dir": "@usps", "usage": "train"}),
    ("usps_test", "USPSDataset", {"dataset_dir": "@usps", "usage": "test"}),
    ("usps_all", "USPSDataset", {"dataset_dir": "@usps", "usage": "all"}),
    ("wider_test", "WIDERFaceDataset", {"dataset_dir": "@wider", "usage": "test"}),
    (
        "sbd_Boundaries_train",
        "SBDataset",
        {"dataset_dir": "@sbd", "task": "Boundaries", "usage": "train"},
    ),
    (
        "sbd_Boundaries_all",
        "SBDataset",
        {"dataset_dir": "@sbd", "task": "Boundaries", "usage": "all"},
    ),
    (
        "sbd_Boundaries_train_noval",
        "SBDataset",
        {"dataset_dir": "@sbd", "task": "Boundaries", "usage": "train_noval"},
    ),
    (
        "sbd_Segmentation_train",
        "SBDataset",
        {"dataset_dir": "@sbd", "task": "Segmentation", "usage": "train"},
    ),
    (
        "sbd_Segmentation_all",
        "SBDataset",
        {"dataset_dir": "@sbd", "task": "Segmentation", "usage": "all"},
    ),
    (
        "sbd_Segmentation_train_noval",
        "SBDataset",
        {"dataset_dir": "@sbd", "task": "Segmentation", "usage": "train_noval"},
    ),
]
for _task, _file in [
    ("Detection", "boxes"),
    ("Stuff", "boxes"),
    ("Keypoint", "boxes"),
    ("Panoptic", "panoptic"),
    ("Captioning", "captions"),
]:
    CASES.append(
        (
            f"coco_{_task.lower()}",
            "CocoDataset",
            {
                "dataset_dir": "@coco/images",
                "annotation_file": f"@coco/{_file}.json",
                "task": _task,
            },
        )
    )


def placed(value, root):
    """The argument with "@x" as a path below `root`."""
    if isinstance(value, str) and value.startswith("@"):
        return f"{root}/{value[1:]}"
    if isinstance(value, list):
        return [placed(v, root) for v in value]
    if isinstance(value, dict):
        return {k: placed(v, root) for k, v in value.items()}
    return value


def digest(array: np.ndarray) -> list:
    """dtype, shape and values (a hash of them when there are many) of a cell."""
    array = np.asarray(array)
    if array.dtype.kind in "US":
        flat = [s.decode() if isinstance(s, bytes) else str(s) for s in array.reshape(-1).tolist()]
        text = "\0".join(flat)
        if len(text) > 200:
            flat = hashlib.sha256(text.encode()).hexdigest()[:16]
        return ["string", list(array.shape), flat]
    if array.size > 12:
        little = array.astype(array.dtype.newbyteorder("<"))
        value = hashlib.sha256(np.ascontiguousarray(little).tobytes()).hexdigest()[:16]
    else:
        value = array.reshape(-1).tolist()
    return [array.dtype.name, list(array.shape), value]
