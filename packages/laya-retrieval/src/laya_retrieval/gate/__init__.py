"""Gates: keep what is relevant, and say whether it answers."""

from laya_retrieval.gate.adjudicate import Adjudication, Support, adjudicate
from laya_retrieval.gate.base import Gate
from laya_retrieval.gate.features import FeatureGate, FeatureModel, extract_features
from laya_retrieval.gate.laya import LayaGate
from laya_retrieval.gate.nli import NliGate
from laya_retrieval.gate.out_of_fold import out_of_fold
from laya_retrieval.gate.verdict import Funnel, GateState, Verdict

__all__ = [
    "Adjudication",
    "FeatureGate",
    "FeatureModel",
    "Funnel",
    "Gate",
    "GateState",
    "LayaGate",
    "NliGate",
    "Support",
    "Verdict",
    "adjudicate",
    "extract_features",
    "out_of_fold",
]
