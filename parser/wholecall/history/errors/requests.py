"""Rules for faults of one request: its parameters, its tools, its body, the model it names."""

from __future__ import annotations

from wholecall.history.errors.rules import Rule
from wholecall.history.errors.words import ErrorKind

__all__ = ["GENERATED", "JSON", "MEMBERS", "MODELS", "TOOLS", "TOOL_PLACES", "VALUES"]


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
