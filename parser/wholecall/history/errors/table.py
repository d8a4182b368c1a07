"""The order in which rules are tried; the first matching words of a text are not always its meaning.

1. Model output that the server could not read: its text may contain any of the words below.
2. Members that the provider does not know: their names contain words like "tokens" and "limit".
3. The messages: a gateway may send a bad transcript with any status, and with any type.
4. Tools and JSON without a place among the messages.
5. Limits per minute or day, and money owed, before the context: all three speak of too many tokens.
6. The context, before the values of parameters: both speak of `max_tokens`.
7. An overloaded engine and flagged content, before rates and credits: "429", "no credits were charged".
8. Rates, before weaker words for money: a limit may advise to buy credits.
9. Models and their missing features, before keys and rights: "does not exist, or you have no access to it".
10. Failures, for errors that come without a status; at last any place among the messages.
"""

from __future__ import annotations

from wholecall.history.errors import messages, refusals, requests
from wholecall.history.errors.rules import RuleTable

__all__ = ["RULES"]

RULES = RuleTable(
    (
        *requests.GENERATED,
        *requests.TOOL_PLACES,
        *messages.MEMBERS,
        *requests.MEMBERS,
        *messages.PAIRS,
        *messages.CALLS,
        *messages.THINKING,
        *messages.CONTENTS,
        *messages.TURNS,
        *requests.TOOLS,
        *requests.JSON,
        *refusals.LIMITS,
        *refusals.MONEY_OWED,
        *refusals.CONTEXT,
        *refusals.BUSY,
        *refusals.FLAGGED,
        *refusals.RATES,
        *refusals.MONEY,
        *refusals.PLACES,
        *requests.MODELS,
        *refusals.RIGHTS,
        *requests.VALUES,
        *refusals.FAILURES,
        *messages.ANY_PLACE,
    )
)
