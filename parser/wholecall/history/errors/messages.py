"""Rules for faults of the messages: of category `transcript`, except for texts that are too long.

A call without a result and a result without a call are reported in nearly the same words: the words after
"without", "must have" or "must follow" name the missing part. Rules for orphans come first, because their
messages contain both.
"""

from __future__ import annotations

from wholecall.history.errors.rules import ErrorKind, Rule

# A place among the messages: `messages[2]`, `messages.2`, `'messages', 2`, `input[3]`, `contents[1]`.
_MESSAGE = r"\b(?:messages|input|contents)(?:\.?\[\d|[./]\d|'?, ?\d)"
_CALL = r"(?:tool[_ -]?(?:use|call)s?|function[_ -]?calls?)"
_RESULT = (
    r"(?:(?:tool|function)[_ -]?(?:call[_ -]?)?(?:result|response|output)s?|tool[_ -]?messages?"
    r"|messages? with role '?tool'?)"
)
_ARGUMENTS = (
    r"(?:tool_calls?\b.{0,50}arguments|tool_?use[^a-z]{1,12}input\b"
    r"|function_?call[^a-z]{0,12}(?:args|arguments)\b|toolcallfunctionarguments"
    r"|\b(?:function|tool|call)[a-z_]{0,10}[^a-z]{1,12}(?:call )?arguments"
    r"|\barguments (?:of|for|in|to) .{0,40}(?:tool|function|call))"
)
_CALL_ID = (
    r"(?:tool_?use\.id|tool_?use_?id|tool_calls?\S{0,20}\.id\b|tool_calls?'?[^a-z]{1,12}id\b|\bcall_id\b"
    r"|tool[_ ]?call[_ ]?id)"
)
_UNKNOWN = r"(?:unknown|unrecognized|unexpected)"
_MEDIUM = r"(?:image|audio|video|pdf|document|media)s?\b"
# Words of complaint about a place that was named before them.
_COMPLAINT = (
    r"(?:input should be|invalid type|expected (?:an? |type)|unknown variant|not match any variant"
    r"|must be an? )"
)


def _rule(kind: ErrorKind, says: str, *words: str) -> Rule:
    return Rule("transcript", kind, says, words)


MEMBERS = (
    _rule(
        "unknown_field",
        "messages.3.content.0.tool_use.caller: Extra inputs are not permitted",
        rf"{_MESSAGE}.{{0,200}}(?:extra (?:input|field)|is unsupported|cannot find field|{_UNKNOWN} field)",
        rf"{_UNKNOWN} (?:parameter|field|name|key|property)[^{{}}]{{0,80}}'{_MESSAGE}",
    ),
    _rule(
        "empty_tool_calls",
        "Invalid 'messages[3].tool_calls': empty array. Expected an array with minimum length 1",
        r"tool_calls'?.{0,30}(?:empty|too short|at least (?:1|one))",
        r"(?:empty|too short).{0,30}tool_calls",
    ),
    _rule(
        "content_form",
        "Unable to submit request because `function_response.parts` is not supported for this model.",
        r"'(?:function_?response|tool_?result)[\w.]{0,40}' is not supported",
        r"tool_?result\S{0,60} is invalid",
        r"\b(?:item|content|block|part|input) type .{0,60}(?:not supported|unsupported|unknown)",
        r"(?:invalid|unsupported|unknown) (?:item|content|block|part|input) type(?!.{0,40}only supported)",
        r"content as an? \w+ is only supported",
    ),
)

PAIRS = (
    _rule(
        "role_order",
        "Chat message input roles must alternate. Tool messages must follow a message containing tool calls.",
        r"\broles? (?:must|should) (?:be )?alternat",
    ),
    _rule(
        "bad_role",
        'messages: Unexpected role "tool". Allowed roles are "user" or "assistant".',
        r"unexpected role .{0,60}(?:allowed|api accepts)",
        r"unknown variant '(?:developer|system|tool|function|assistant|model)'",
    ),
    _rule(
        "orphan_tool_result",
        "unexpected `tool_use_id` found in `tool_result` blocks: toolu_01A",
        rf"unexpected '?(?:tool[_ ]?(?:use|call)[_ ]?id|{_RESULT})",
        r"unexpected role '?(?:tool|function|roleenum\.tool)\b",
        rf"{_RESULT}.{{0,60}}\bwithout\b.{{0,40}}{_CALL}",
        rf"no {_CALL}.{{0,20}} for {_RESULT}",
        rf"orphan\w* '?{_RESULT}",
    ),
    _rule(
        "orphan_tool_result",
        "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
        rf"(?:role '?tool'?|{_RESULT}).{{0,30}} must (?:be|follow|come|immediately|have|match|correspond)"
        rf".{{0,60}}(?:{_CALL}|prece+ding|previous)",
        rf"not follow (?:a |an )?{_CALL}",
        rf"{_RESULT} turn comes immediately after",
        r"(?:tool role|role '?tool'?).{0,40}\bno (?:previous|prece+ding)",
    ),
    _rule(
        "orphan_tool_result",
        "The number of toolResult blocks exceeds the number of toolUse blocks of previous turn.",
        rf"number of {_RESULT}.{{0,80}}exceeds?.{{0,30}}{_CALL}",
        rf"more {_RESULT}.{{0,20}} than {_CALL}",
    ),
    _rule(
        "orphan_tool_result",
        "Invalid request: tool_call_id call_1 is not found",
        r"(?:tool[_ ]?(?:call|use)[_ ]?id|call_id|tool id).{0,100}(?:not found|not exist|not match|unknown)",
        r"(?:not find|no matching|unknown) (?:a )?(?:tool[_ ]?(?:call|use)|function call)\b",
    ),
    _rule(
        "unanswered_tool_call",
        "`tool_use` ids were found without `tool_result` blocks immediately after: toolu_01A.",
        rf"{_CALL}\b.{{0,60}}\bwithout\b.{{0,40}}{_RESULT}",
        rf"must (?:be (?:immediately )?followed by|have a (?:corresponding|matching)).{{0,30}}{_RESULT}",
    ),
    _rule(
        "unanswered_tool_call",
        "No tool output found for function call call_1.",
        r"did not have (?:a |any )?(?:response|result|output)",
        rf"\b(?:no|missing|expected|insufficient|lacks?) '?{_RESULT}",
        rf"{_RESULT} (?:is|are|was|were) (?:missing|required)",
        rf"{_CALL}.{{0,40}} (?:un|not )(?:answered|responded|resolved)",
    ),
    _rule(
        "unanswered_tool_call",
        "Not the same number of function calls and responses",
        rf"number of {_RESULT}.{{0,80}}{_CALL}",
        rf"number of {_CALL}.{{0,80}}(?:response|result|output)s?\b",
        rf"{_CALL} and (?:results?|{_RESULT}).{{0,20}}not match",
    ),
    _rule(
        "duplicate_tool_result",
        "each tool_use must have a single result. Found multiple `tool_result` blocks with id: toolu_01A",
        r"single result",
        rf"(?:multiple|duplicated?) '?{_RESULT}",
        rf"{_RESULT} blocks.{{0,60}}duplicate ids",
    ),
    _rule(
        "duplicate_tool_call_id",
        "`tool_use` ids must be unique",
        rf"{_CALL}'?[_ ]?(?:ids?)?'? (?:must be|are not|is not|not) unique",
        rf"{_CALL}.{{0,80}}\bduplicated?\b",
        r"duplicated? (?:value for )?'?(?:tool[_ ]?(?:call|use)|call)[_ ]?ids?",
    ),
)

# A complaint about arguments may name the id of their call, therefore ids come second.
CALLS = (
    _rule(
        "arguments_type",
        "cannot unmarshal object into Go struct field .messages.tool_calls.function.arguments of type string",
        r"cannot unmarshal \w+ into go .{0,160}arguments",
        r"only get item pairs from a mapping",  # a prompt template that expects an object
    ),
    _rule(
        "arguments_type",
        "messages.1.content.0.tool_use.input: Input should be a valid dictionary",
        rf"{_ARGUMENTS}.{{0,80}}(?:{_COMPLAINT}|(?<!in)valid types?:|is not of type|provide a json object"
        r"|(?:must|has|have|needs?) (?:to )?be (?:an? )?(?:string|object|dict|mapping)\b)",
        rf"invalid (?:type for|value at) '[^']{{0,200}}{_ARGUMENTS}",
        rf"input should be a valid (?:string|dict).{{0,80}}{_ARGUMENTS}",
    ),
    _rule(
        "malformed_arguments",
        "invalid params, invalid function arguments json string, tool_call_id: call_1",
        rf"(?:invalid|malformed|parse|parsing|decod\w{{1,3}}|deserializ\w{{1,3}}).{{0,60}}{_ARGUMENTS}",
        rf"{_ARGUMENTS}.{{0,80}}(?:json|malformed|pars(?:e|ing)|decode)",
        r"value looks like object, but can't find closing",
    ),
    _rule(
        "bad_tool_call_id",
        "messages.1.content.1.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
        rf"{_CALL_ID}'?.{{0,60}}(?:too long|empty string|pattern|(?:should|must) (?:be|have|match)|invalid"
        r"|length|required|missing|null)",
        rf"(?:invalid|missing|empty|null|malformed)(?: required)?(?: field| parameter)?:? '?{_CALL_ID}",
        r"expected an id that begins with '(?:fc|ctc|call)",
        r"value '[^']{0,512}' at '[^']{0,200}tooluseid'",
    ),
    _rule(
        "bad_tool_name",
        "Invalid 'messages[2].tool_calls[0].function.name': string does not match pattern.",
        rf"{_MESSAGE}[^ ]{{0,80}}\bname'?.{{0,60}}(?:string|pattern|empty|invalid|length|required)",
    ),
)

THINKING = (
    _rule(
        "thinking_signature",
        "Function call is missing a thought_signature in functionCall parts.",
        r"signature'? in '?thinking",
        r"(?:thinking|thought|reasoning).{0,40}signature.{0,60}(?:invalid|not valid|required|missing|verif)",
        r"(?:invalid|corrupted|missing)(?: an?)? '?thought[_ ]?signature",
        r"thinking'? blocks?.{0,60}cannot be modified",
        r"encrypted[_ ]content",
    ),
    _rule(
        "orphan_reasoning",
        "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
        r"'?reasoning'? was provided without its required following",
    ),
    _rule(
        "missing_reasoning",
        "Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'.",
        r"without its required '?reasoning",
        r"reasoning_content.{0,60}(?:missing|must be|required|pass)",
        r"missing '?reasoning_content",
        r"(?:thinking|reasoning)\b.{0,40}(?:must|to|should) be (?:passed|preserved|included|sent)",
        r"expected '?thinking'? or '?redacted_thinking",
        r"must start with a thinking block",
    ),
    _rule(
        "unknown_item",
        "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false.",
        r"items? with id.{0,80}not found",
        r"previous[_ ]response.{0,80}not found",
    ),
)

CONTENTS = (
    _rule(
        "empty_history",
        "messages: at least one message is required",
        r"at least one message\b",
        r"'(?:messages|input|contents)': empty array",
        r"contents is not specified",
        r"\b(?:messages|contents) (?:must not be|cannot be|is|are) empty",
        r"(?:no|missing|empty) messages\b",
    ),
    Rule(
        "context_overflow",
        "request_too_large",
        "Invalid 'messages[3].content[0].text': string too long.",
        (
            r"\b(?:content|text)\S{0,10}: string too long",
            r"string value length .{0,20}exceeds",
            r"message size .{0,20}exceeds",
        ),
    ),
    _rule(
        "bad_media",
        "messages.3.content.1.image.source.base64: image exceeds 5 MB maximum",
        rf"(?:process|decode|download|fetch|open|read|parse) (?:the )?(?:input |provided )?{_MEDIUM}",
        rf"unsupported {_MEDIUM}(?! input)",
        rf"invalid (?:base64 )?{_MEDIUM}",
        rf"provided {_MEDIUM} is not valid",
        r"image_url'?[.:]? expected",
        rf"{_MEDIUM}.{{0,60}}(?:exceed|too (?:large|small|many|big)|corrupt|dimension|media type)",
    ),
    _rule(
        "empty_content",
        "messages: text content blocks must be non-empty",
        r"(?:content|text|message|parts)(?:\b|_).{0,60}(?:non-empty|not be (?:empty|null|blank)"
        r"|cannot be empty|is (?:blank|empty)|non-whitespace|at least (?:one|1) (?:content|part|token))",
        r"(?:non-empty|empty|blank|missing) (?:message )?(?:content|text|parts)\b",
        r"missing field '?content",
        r"content.{0,40}(?:(?:is|are) (?:an? )?required|got null|not none|invalid type: null)",
        r"\bcontent'?[ :;]{1,3}field required",
        r"must (?:include|have) (?:at least one |a )(?:parts|text) ?(?:field|parameter)?",
        r"(?:输入|内容|消息)不能为空",
    ),
)

TURNS = (
    _rule(
        "bad_role",
        "Please use a valid role: user, model.",
        r"(?:invalid|unknown|unsupported|a valid) (?:message )?role\b",
        r"\brole'? .{0,40}is not (?:supported|valid|allowed)",
    ),
    _rule(
        "role_order",
        "Unexpected role 'user' after role 'tool'",
        r"\balternat(?:e|es|ing)\b",
        r"(?:unexpected|incorrect) role",
        r"(?:successive|consecutive|2 or more|two or more) (?:user|assistant)",
        r"(?:first|last) message (?:must|should|of)",
        r"expected last role",
        r"call turn comes immediately after",
        r"no user (?:query|message)",
        r"system message must",
    ),
    _rule(
        "role_order",
        "This model does not support assistant message prefill. A conversation must end with a user message.",
        r"(?:start|begin|end)s? with an? '?(?:user|assistant|model|tool)",
        r"cannot be provided in the same turn",
        r"prefill",
        r"blocks can only be .{0,20}in '?(?:user|assistant)",
    ),
    _rule(
        "content_form",
        "json: cannot unmarshal array into Go struct field ChatRequest.messages.content of type string",
        r"cannot unmarshal \w+ into go struct field [\w.]{0,40}messages",
        rf"{_MESSAGE}[^ ]{{0,40}}content\b.{{0,60}}{_COMPLAINT}",
        rf"{_MESSAGE}.{{0,20}}(?:unknown variant|input tag)",
        rf"supported values are.{{0,200}}{_MESSAGE}[^ ]{{0,20}}content",
        r"cannot (?:pass|specify|have) both .{0,40}(?:content|message)",
        r"trailing whitespace",
        r"\btext is not set",
    ),
    _rule(
        "missing_field",
        "Missing required parameter: 'messages[2].tool_calls[0].type'.",
        rf"missing[_ ](?:required[_ ])?(?:parameter|field).{{0,40}}{_MESSAGE}",
        rf"{_MESSAGE}.{{0,120}}(?:field required|missing field)",
    ),
)

# The last rule: an error at a place among the messages remains as long as the message is sent.
ANY_PLACE = (
    Rule(
        "transcript",
        None,
        "messages.7.content.2: something that no rule knows",
        (_MESSAGE,),
        statuses=frozenset({0, 400, 422}),
    ),
)
