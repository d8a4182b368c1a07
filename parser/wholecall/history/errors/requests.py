"""Rules for one request: faults of its parameters, tools, body and model; refusals; failed servers.

Too long, too many, unpaid, flagged, not allowed, too busy: here the words of one class are found in the messages of
another, and the order of the table (`wholecall.history.errors.classify`) matters most.
"""

from __future__ import annotations

from wholecall.history.errors.rules import ErrorKind, Rule


def _rule(kind: ErrorKind, says: str, *words: str) -> Rule:
    return Rule("request", kind, says, words)


GENERATED = (
    _rule(
        "failed_generation",
        "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.",
        r"failed_generation",
        r"tool_use_failed",
        r"failed to call a function",
        r"tool call validation failed",
        r"malformed_function_call",
        r"malformed_tool_use",
    ),
    _rule(
        "failed_generation",
        "error parsing tool call: raw='{', err=unexpected end of JSON input",
        r"error parsing tool call",
        r"failed to parse (?:input at pos|(?:the )?model)",
        r"pars(?:e|ing) (?:the )?(?:model'?s? )?(?:output|generat\w+)",
        r"xml syntax error",
    ),
)

TOOL_PLACES = (
    _rule(
        "tool_definition",
        "tools.1.custom.input_schema: input_schema does not support oneOf at the top level",
        r"\btools?(?:\[\d|\.\d|'?, ?\d)",
        r"\.tools\.function",
        r"function_?declarations?",
    ),
)

MEMBERS = (
    _rule(
        "unsupported_feature",
        "Invalid content type. image_url is only supported by certain models.",
        r"only supported (?:by|for|with|on|in) (?:certain|some|specific|the following|newer)",
        r"does not work with (?:the|this)",
    ),
    _rule(
        "unsupported_parameter",
        "Unsupported parameter: 'max_tokens' is not supported with this model.",
        r"unsupported[_ ]parameter",
        r"unsupportedparams",
        r"(?:unknown|unrecognized|unexpected) (?:request )?(?:parameter|field|name|argument|key|keyword)s?\b",
        r"extra (?:inputs?|fields?|attributes?) (?:(?:are|is|were) )?not (?:permitted|allowed)",
        r"extra_forbidden",
        r"extraneous key",
        r"cannot find field",
        r"not support (?:(?:the )?(?:parameter|argument|option)|[a-z]{1,30}_[a-z_]{1,60}\b)",
        r"(?:parameter|argument|option)s? (?:is |are )?not supported",
    ),
    _rule(
        "unsupported_parameter",
        "`temperature` is deprecated for this model.",
        r"(?:'[\w.\[\]-]{1,80}' (?:is|are)|\b[a-z]{1,30}_[a-z_]{1,60} is) "
        r"(?:not (?:supported|allowed|permitted|recognized)(?: (?:with|for|by|on|in)\b|$|\.)|unsupported\b"
        r"|deprecated)",
    ),
)

TOOLS = (
    _rule(
        "missing_tools",
        "Requests which include `tool_use` or `tool_result` blocks must define `tools`.",
        r"must define '?tools",
        r"toolconfig field must be defined",
        r"without '?tools=?'? param",
        r"when '?tools'? (?:are|is)\b",
    ),
    _rule(
        "response_format",
        "Invalid schema for response_format 'tide': schema must have a 'type' key.",
        r"response_?format",
        r"response_?(?:json_?)?schema",
    ),
    _rule(
        "tool_definition",
        "Invalid schema for function 'tide': array schema missing items.",
        r"'tools'",
        r"invalid_function_parameters",
        r"schema for (?:function|tool)",
        r"input_?schema",
        r"json schema",
        r"tool names must be unique",
        r"function (?:parameters|name|format|definition|declaration)",
        r"unable to generate parser",
        r"failed to (?:parse|initialize) grammar",
    ),
)

# A complaint about the body is the caller's fault. A complaint without a place is about the arguments of a
# stored call, which servers parse again for their prompt templates.
JSON = (
    _rule(
        "malformed_body",
        "We could not parse the JSON body of your request.",
        r"(?:json|request) (?:body|payload).{0,60}(?:pars|invalid|not valid|decod|malformed)",
        r"(?:pars|decod|invalid|malformed|deseriali).{0,40}(?:json|request) (?:body|payload)",
        r"json decode error",
        r"json_invalid",
    ),
    Rule(
        "transcript",
        "malformed_arguments",
        "Unterminated string starting at: line 1 column 10 (char 9)",
        (
            r"unterminated string",  # Python, JavaScript
            r"expecting (?:value|',' delimiter|':' delimiter|property name)",
            r"extra data: line",
            r"(?:invalid|bad) control character",
            r"(?:invalid|bad) (?:'?\\?escape|escaped)",
            r"jsondecodeerror",
            r"unexpected end of (?:json|data)",  # Go, JavaScript
            r"unexpected token .{1,20} json",
            r"\bin json at position",
            r"is not valid json",
            r"eof while parsing",  # serde
            r"json\.exception\.parse_error",  # nlohmann
        ),
    ),
)

MODELS = (
    _rule(
        "unsupported_feature",
        "registry.ollama.ai/library/tide:latest does not support tools",
        r"(?:not|n't) support(?:ed)? (?:for )?.{0,40}(?:tool|function|image|vision|audio|video|file|stream"
        r"|thinking|reasoning|parallel|system)",
        r"(?:is|are) unsupported\b",
        r"no endpoints (?:found|available)",
        r"not enabled for this model",
        r"requires? --\w",
        r"on-demand throughput",
        r"enable-auto-tool-choice",
    ),
    _rule(
        "unsupported_feature",
        "image input is not supported - hint: you may need to provide the mmproj",
        r"(?:tools?|function calling|image|vision|audio|streaming|thinking|reasoning|tool_choice)\b"
        r".{0,60}(?:(?:is|are) not (?:supported|enabled|available|allowed)|may not be enabled)",
    ),
    _rule(
        "unknown_model",
        "The model `gpt-9` does not exist or you do not have access to it.",
        r"\bmodels?\b.{0,100}\b(?:not[_ ]found|not exist|not supported|not a valid|no longer|is unknown|无可用)",
        r"not found the model",
        r"not a valid model",
        r"\b(?:unknown|invalid|no such|unsupported|nonexistent) model\b",
        r"model[_ ]not[_ ]",
        r"model_decommissioned",
        r"no models? (?:is |are )?loaded",
        r"deploymentnotfound",
        r"deployment.{0,60}not exist",
        r"not_found_error ; model:",
        r"model identifier is invalid",
        r"模型.{0,10}(?:不存在|未找到|已下线|不支持)",
    ),
)

VALUES = (
    _rule(
        "invalid_parameter",
        "temperature: range: 0..1",
        r"range of \w+ should be",
        r"valid range",
        r"range: \d",
        r"supported (?:string )?values",
        r"missing[_ ]required[_ ]parameter",
        r"required parameter",
        r"cache_control",
        r"cannot be disabled",
        r"budget \d+ is invalid",
        r"must be (?:set to|'?true\b|'?false\b|in|between|less|greater|at (?:least|most)|one of|a positive)",
        r"should be (?:less|greater|in|between|at)",
        r"(?:greater|less) than or equal",
    ),
)


# --- refusals ------------------------------------------------------------------------------------------


_NO_STATUS = frozenset({0})
# A provider that states when to retry does not ask for money.
_COMES_BACK = (
    r"retry-after|retry in \d|(?:try again|available) (?:in|at|after)|reset(?:s|ting)? (?:at|in|on|after)"
    r"|for this period|refreshed|resource_?exhausted"
)
_OUTPUT = r"(?:max_?(?:\w{1,12}_)?tokens|maxoutputtokens|(?:completion|output) tokens)"
_MORE_THAN = (
    r"(?:exceed\w*|(?:larger|longer|greater|more|higher) than|too (?:long|large|big|many tokens) for|over"
    r"|beyond|fit\w*)"
)
_MOST = r"max(?:imum)?[_ ](?:allowed |number of |input |prompt |sequence ){0,3}(?:tokens|length)"
_KEY = (
    r"(?:api|access|auth(?:entication|orization)?|bearer|subscription|security|secret|jwt|oauth)[ _-]?"
    r"(?:key|token|credential)s?\b"
)
_BAD = (
    r"\b(?:invalid|incorrect|wrong|expired|missing|no|bad|unrecognized|revoked|disabled|malformed|leaked)\b"
)

LIMITS = (
    Rule(
        "rate_limit",
        "upstream",
        "google/gemma-3:free is temporarily rate-limited upstream.",
        (r"rate-?limited upstream", r"upstream.{0,40}rate[ _-]?limit"),
    ),
    Rule(
        "rate_limit",
        "upstream",
        "Provider returned error: Rate limit exceeded",
        (r"provider returned error",),
        also=r"rate[ _-]limit|too many requests|\bquota",
        unless=r"is_byok",
    ),
    Rule(
        "rate_limit",
        None,
        "Request too large on tokens per minute (TPM): Limit 6000, Requested 9413",
        (
            r"(?:tokens?|requests?)[ _-](?:per|/)[ _-]?(?:min|second|hour|day)",
            r"\b[rt]p[smhd]\b",
            r"quota exceeded for (?:metric|\w+\.googleapis|quota)",
            r"wait before trying",
            r"allocat\w+ quota",
            r"\bthrottl",
            r"service_?quota",
            r"service quota",
            r"request rate",
        ),
    ),
)

MONEY_OWED = (
    Rule(
        "billing",
        None,
        "Your credit balance is too low to access the Anthropic API.",
        (
            r"insufficient[_ ](?:[\w ]{0,30} )?(?:balance|credits?|funds?|user_quota|quota)\b",
            r"(?:balance|credits?)\b.{0,60}(?:insufficient|too low|exhausted|depleted|not enough|used up)",
            r"\bout of (?:\w+ )?(?:credits?|funds|usage)",
            r"not enough (?:balance|credits?|funds)",
            r"(?:all|available|remaining) credits",
            r"spend(?:ing)? limit",
            r"arrear",
            r"overdue",
            r"in good standing",
            r"payment[_ ](?:is )?required",
            r"billing_\w",
            r"余额|欠费|充值|额度(?:不足|已用)|资源包",
        ),
    ),
    Rule("billing", None, "Prompt tokens limit exceeded: 13211 > 1234", (r"",), statuses=frozenset({402})),
)

CONTEXT = (
    Rule(
        "request",
        "invalid_parameter",
        "max_tokens is too large: 32768. This model supports at most 16384 completion tokens.",
        (
            r"unsupported[_ ]value",
            r"maximum tokens you requested",
            rf"{_OUTPUT}\b.{{0,60}}(?:too large|exceed|>|at most|maximum|must|should|range)",
        ),
        unless=r"context (?:length|limit|size)|context window of|input length|'?inputs'? |must be verified",
    ),
    Rule(
        "context_overflow",
        "request_too_large",
        "Request exceeds the maximum size",
        (
            r"request_too_large",
            r"(?:request|payload|body|entity|content)(?: body| entity| payload)?(?: is)? too large",
            r"exceeds the maximum (?:request )?size",
        ),
        unless=r"context",
    ),
    Rule(
        "context_overflow",
        None,
        "Your input exceeds the context window of this model.",
        (
            r"context[_ ]?(?:length|window|size|limit)s?[_ ]?(?:exceed|overflow)",
            r"exceed_context",
            r"context.{0,20}overflow",
            r"context (?:length|window|size) (?:is|of).{0,60}(?:requested|resulted|contains?)",
            r"tokens in request more than max",
            rf"{_MORE_THAN}\b.{{0,60}}(?:context|{_MOST})",
        ),
    ),
    Rule(
        "context_overflow",
        None,
        "prompt is too long: 210000 tokens > 200000 maximum",
        (
            r"\b(?:prompt|input|conversation|context|history|messages?)\b.{0,40}too (?:long|large)",
            r"max(?:imum)? (?:context|prompt|input|sequence) length",
            r"(?:reduce|shorten|decrease) (?:the |your )?(?:length|size) of",
            r"exceed\w* (?:the )?(?:model )?(?:max(?:imum)? )?(?:input )?tokens? limit",
            r"token (?:limit|count).{0,40}exceed",
            r"range of input length",
            r"too many (?:input |prompt )?tokens",
        ),
    ),
    Rule(
        "context_overflow",
        None,
        "length of prompt_tokens (68957) must be less than max_seq_len (65536).",
        (
            r"prompt_tokens?\b.{0,40}(?:less than|exceed)",
            r"max_seq_len|max_model_len",
            r"'?inputs'? tokens \+",
            r"tokens in the prompt cannot exceed",
            r"(?:上下文|输入|提示词|长度|prompt|token).{0,20}(?:超过|超出|超限|超长|过长)",
            r"(?:超过|超出).{0,20}(?:上下文|最大长度|长度限制|token)",
        ),
    ),
)

BUSY = (
    Rule(
        "overloaded",
        None,
        "The model is overloaded. Please try again later.",
        (
            r"overload",
            r"(?:at|over|insufficient|no available|limited) capacity",
            r"capacity[_ ].{0,20}exceed",
            r"capacity[_ ](?:limit|constraint|exhaust)",
            r"(?:server|service|system|model|engine|api) (?:is )?(?:too |currently |very ){0,3}busy",
            r"server_?busy",
            r"service_?unavailable",
            r"temporarily unavailable",
            r"high (?:demand|load|traffic)",
            r"not_?ready|is not ready",
            r"负载|繁忙|拥挤|访问量过大",
        ),
    ),
)

FLAGGED = (
    Rule(
        "content_filter",
        None,
        "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
        (
            r"content[_ -]?(?:filter|policy|management policy|moderation)",
            r"safety (?:system|filter|setting|check|guideline|polic|reason)",
            r"responsibleai",
            r"blocked (?:by|due to|because).{0,60}(?:safety|policy|content|filter|guardrail)",
            r"guardrail.{0,40}(?:interven|block|trigger|violat)",
            r"data_?inspection",
            r"inappropriate content|prohibited content",
            r"content exists risk|high risk",
            r"\bflagged\b",
            r"(?:usage|acceptable use) polic",
            r"moderation",
            r"(?<!case[- ])sensitive",
            r"unsafe (?:content|or|request)",
            r"敏感|违规|不安全|不合规|审核",
        ),
    ),
)

RATES = (
    Rule(
        "rate_limit",
        None,
        "Rate limit reached for requests",
        (
            r"rate[_ -]limit",
            r"ratelimit(?!error)",
            r"too many (?:\w+ )?requests|too_many_requests",
            r"too many concurrent",
            r"concurren(?:t|cy)\b.{0,40}(?:limit|exceed|usage|reached|reduce|requests|connections)",
            r"resource(?:_| has been )?exhausted",
            r"(?:requests?|daily|hourly) limit (?:reached|exceeded)",
            r"并发|频率|限流|速率|频繁|请求过多|请求数",
        ),
    ),
    Rule(
        "rate_limit",
        None,
        "You've hit your usage limit. Try again at 5:40 PM.",
        (r"quota", r"usage[_ ]limit", r"limit[_ ](?:reached|exceeded|exhausted)", r"exceeded.{0,40}limit"),
        also=_COMES_BACK,
        unless=r"specified api usage",
    ),
)

MONEY = (
    Rule(
        "billing",
        None,
        "You exceeded your current quota, please check your plan and billing details.",
        (
            r"quota",
            r"\bbilling\b",
            r"\bcredits\b",
            r"(?:spend\w*|usage|monthly|budget)[ _](?:limit|cap|budget)",
            r"budget has been exceeded",
            r"past invoices",
            r"extra usage",
            r"额度",
        ),
    ),
)

PLACES = (
    Rule(
        "auth",
        "blocked",
        "User location is not supported for the API use.",
        (
            r"location is not supported",
            r"(?:countr(?:y|ies)|region|territory).{0,60}(?:not (?:supported|available|allowed)|unsupported)",
            r"unsupported (?:country|countries|region)",
            r"not available in your (?:country|region)",
        ),
    ),
    Rule(
        "auth",
        "blocked",
        "<title>Just a moment...</title>",
        (r"cloudflare", r"just a moment", r"attention required", r"captcha"),
        statuses=frozenset({403}),
    ),
)

RIGHTS = (
    Rule(
        "auth",
        None,
        "Incorrect API key provided",
        (
            rf"{_BAD}.{{0,20}}{_KEY}",
            rf"{_KEY}.{{0,40}}(?:not valid|{_BAD}|not found|required|not provided|expired)",
            r"\bx-api-key\b",
            r"invalidapikey",
            r"\blogin fail",
            r"unauthori[sz]ed|unauthenticated",
            r"(?:authentication|authorization)[_ ](?:error|fail\w*|required)",
            r"(?:invalid|resolve)[_ ]authentication",
            r"(?:not|isn't) authorized",
        ),
    ),
    Rule(
        "auth",
        None,
        "permission_error ; Your API key does not have permission to use the specified resource.",
        (
            r"access ?denied",
            r"not allowed to (?:use|access)",
            r"permission[_ ](?:denied|error)",
            r"insufficient (?:permission|scope)|missing scopes",
            r"unrecognizedclient|expiredtoken|security token",
            r"(?:account|organization|key|user).{0,30}(?:deactivated|disabled|suspended|terminated|banned)",
            r"account .{0,30}\b(?:is|been) locked",
            r"must be verified",
            r"鉴权|认证失败|令牌|身份验证|无权|未授权",
            r"账[户号].{0,8}(?:锁定|停用|禁用|封)",
            r"(?:api ?key|密钥).{0,10}(?:无效|错误|不存在|过期)",
        ),
    ),
)

FAILURES = (
    Rule(
        "server_error",
        None,
        "The model has crashed without additional information. (Exit code: 1)",
        (
            r"\b(?:model|engine|worker|server) (?:has )?(?:crashed|unloaded)",
            r"(?:cuda|gpu|system).{0,20}out of memory",
            r"more system memory",
        ),
    ),
    Rule(
        "server_error",
        None,
        "Internal server error",
        (
            r"internal[_ ]?(?:server[_ ]?)?(?:error|exception|failure)",
            r"server_error|server had an error|unexpected error|api_error",
            r"model(?:stream)?error|modeltimeout",
            r"finished with '(?:error|failed)",
            r"bad gateway|upstream",
            r"time-?d? ?out",
            r"connection (?:lost|reset|error|refused|aborted|closed)|connect error",
            r"network[_ ]?(?:error|connection|is unreach)",
            r"\be(?:conn|host|net|timedout|notfound|pipe|ai_again)",
            r"fetch failed|failed to fetch|getaddrinfo|name resolution|no route to host",
            r"socket hang up|peer closed|disconnected",
            r"服务器|内部错误",
        ),
        statuses=_NO_STATUS,
    ),
)
