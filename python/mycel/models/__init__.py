"""Networks of published checkpoints: BERT, GPT-2, T5, ViT, Llama and Mixtral.

`load` makes a network of a folder with config.json and safetensors files, as Hugging Face writes
them; `save` writes such a folder. The cells are named as the entries of the files are.
"""

from mycel.models._files import from_config, load, save
from mycel.models.bert import BertForMaskedLM, BertForSequenceClassification, BertModel
from mycel.models.gpt2 import GPT2LMHeadModel, GPT2Model
from mycel.models.llama import LlamaForCausalLM, LlamaModel, MixtralForCausalLM, MixtralModel
from mycel.models.t5 import T5ForConditionalGeneration
from mycel.models.vit import ViTForImageClassification, ViTModel

__all__ = [
    "BertForMaskedLM",
    "BertForSequenceClassification",
    "BertModel",
    "GPT2LMHeadModel",
    "GPT2Model",
    "LlamaForCausalLM",
    "LlamaModel",
    "MixtralForCausalLM",
    "MixtralModel",
    "T5ForConditionalGeneration",
    "ViTForImageClassification",
    "ViTModel",
    "from_config",
    "load",
    "save",
]
