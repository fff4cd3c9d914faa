"""Fusers: several ranked lists to one."""

from laya_retrieval.fuse.base import Fuser, LegContribution
from laya_retrieval.fuse.log_odds import LogOddsFuser, Sigmoid
from laya_retrieval.fuse.rrf import RrfFuser
from laya_retrieval.fuse.weighted import WeightedFuser

__all__ = ["Fuser", "LegContribution", "LogOddsFuser", "RrfFuser", "Sigmoid", "WeightedFuser"]
