"""Translation: requests, answers, errors and lists of models of one wire, in the words of another."""

from __future__ import annotations

from wholecall.repairing.translation.answers import AnswerTranslator
from wholecall.repairing.translation.failures import translate_error, translate_models
from wholecall.repairing.translation.reading import Untranslatable
from wholecall.repairing.translation.requests import TranslatedRequest, translate_request

__all__ = [
    "AnswerTranslator",
    "TranslatedRequest",
    "Untranslatable",
    "translate_error",
    "translate_models",
    "translate_request",
]
