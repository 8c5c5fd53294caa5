import type { RequestFeature } from '../../ports/models.ts';

/**
 * The features that a provider's words refuse, those first without which the reply loses least. A sentence refuses a
 * feature if it names it and says that something is not supported, and not only some kind or amount of it.
 */
export function featuresIn(said: string, model = ''): readonly RequestFeature[] {
  // The name of a model may contain that of a feature.
  const reason = model.length < MIN_NAME_CHARS ? said : said.replaceAll(model, 'the model');
  const sentences = reason
    .replace(ACCEPTED, '')
    .split(SENTENCE_END)
    .filter((sentence) => REFUSED.test(sentence) && !LIMITED.test(sentence));
  return FEATURES.filter(([, { name, special }]) => {
    return special?.test(reason) === true || sentences.some((sentence) => name.test(sentence));
  }).map(([feature]) => feature);
}

/** Shorter names are in other words. */
const MIN_NAME_CHARS = 4;
const SENTENCE_END = /[.;!?](?=\s|$)|\n|\bbut\b/i;

/** What a provider accepts instead. */
const ACCEPTED =
  /,? (?:expected|must be one of|(?:supported|valid|allowed) (?:values|types|roles|parameters|fields)|(?<=[,;] )use|please use)\b[^.]*/gi;

const NOT = "(?:\\bnot|n['’]t|\\bcannot)";
const REFUSED = words([
  // “does not currently support”, “isn't yet supported”, “is not a supported parameter”, “not support”
  `${NOT}(?: (?:yet|currently|be|an?|the|been))* (?:support|accept|enable|allow|permit|available|capable|configur|recogni[sz]ed|implemented|loaded|possible|adjustable|valid (?:for|(?:content )?type|parameter|field|option|argument|role))`,
  `\\b(?:cannot|can not|can['’]t|do(?:es)?(?: not|n['’]t)) (?:be )?(?:process|handle|take|have|use|read|see|understand|interpret|view|call|set\\b|change|specif|stream)`,
  'unable to (?:use|handle|process|read|stream)',
  '\\b(?:unsupported|unrecogni[sz]ed|unavailable|disabled|deprecated|incapable|lacks?)\\b',
  // Of fields, and of the types of content
  '\\b(?:unknown|unexpected) (?:variant|parameter|field|name|(?:keyword )?argument|key|property|option|(?:message )?role|(?:content |part |item |chunk )*type)',
  '\\binvalid (?:parameter|field|argument|property|value|(?:message )?role|(?:content |message )?(?:part |block |item |chunk )?type)',
  '\\bextra (?:inputs|fields)|\\bwas unexpected',
  '\\b(?:must|should) be (?:unset|omitted|removed|left out)',
  'no endpoints (?:found|available)',
  '\\bno (?:\\S+ ){0,2}(?:support|capabilit|input|encoder|processor|projector)|\\bno (?:vision|streaming|tools)\\b',
  '不支持|不可用',
]);

/** About one kind of an input, its size, or something inside it. */
const LIMITED = words([
  '\\b(?:larger|bigger|longer|smaller|greater|higher|lower|less|fewer|more|than|above|below|exceed\\w*|too|maximum|minimum|between|range|at least|up to)\\b',
  '\\b(?:formats?|mime|encoding|base64|decoded|corrupt\\w*|urls?|remote|animated|resolution|dimensions|pixels|password)\\b',
  '\\b(?:parallel|multiple|several|both|strict|schema|names)\\b|of this (?:type|kind)',
  '\\b(?:safety|polic(?:y|ies)|moderation|violat\\w*|schemes?|media types?|(?:image|file|document|audio) types?|limit)\\b|[<>≤≥]',
  // The order of messages
  'in a row|must be a response|must be followed|preced',
  // A file that is broken
  '\\b(?:process|read|handle|download|fetch|open) (?:the |an? |your |this )?(?:input |provided )?(?:image|file|document|pdf)\\b(?! (?:inputs?|contents?|data))',
  // “image/tiff”
  '\\b(?:image|audio)/\\w',
  // The opposite: a model that only streams
  '\\bnon-?stream|\\bonly supports? stream|\\bonly support stream',
]);

interface Wording {
  /** How providers call it in a sentence that refuses something. */
  readonly name: RegExp;
  /** Sentences of known servers and templates that say it otherwise. */
  readonly special?: RegExp;
}

/** Written by providers around a name. */
const Q = '[\'"`’]?';
/** Content must be a string, as Groq, Pydantic, Go, Rust and llama.cpp write it. */
const MUST_BE_TEXT = [
  `content(?:\\.str)?${Q}\\s*:?\\s*(?:(?:value )?must be a string|(?:input )?should be a valid string|expected a string,? but got an array)`,
  'invalid type: sequence, expected a string',
  'cannot unmarshal array into .{0,60}content of type string',
  'untagged enum \\w*content',
  'unsupported content\\[\\]\\.type',
  'invalid message content type',
  "content\\S*\\.type: input should be 'text'",
];
const ROLES = '(?:roles?|messages?|prompts?|instructions?|fields?|parameters?)';

const FEATURES: readonly (readonly [RequestFeature, Wording])[] = [
  // Before the tools: Bedrock’s models “don't support tool use in streaming mode”.
  [
    'streaming',
    {
      name: name('stream(?:s|ed|ing)?|streaming_not_supported|sse|server-sent events|流式'),
      special: words([
        // OpenAI
        'must be verified to stream',
        `stream${Q}(?: must be|:) (?:set to )?${Q}false|set ${Q}stream${Q}(?: to |\\s?=\\s?)${Q}false`,
        'only non-?stream',
        // llama.cpp
        'cannot use tools with stream',
      ]),
    },
  ],
  [
    'temperature',
    {
      name: name('temperature|温度'),
      special: words([
        `temperature${Q} (?:may|can|must|should) (?:only )?(?:be )?(?:set to |equal to )?(?:exactly )?1(?:\\.0)?\\b(?! (?:or|to|and)\\b|\\.\\d)`,
        'fixed temperature|temperature is fixed',
        // LiteLLM, Moonshot
        'only temperature[\\s=]{1,3}1\\b|only the default temperature',
        'invalid temperature: only [\\d.]+ is allowed',
      ]),
    },
  ],
  [
    'images',
    {
      name: name(
        'images?|image_urls?|input_image|vision|multi-?modal(?:ity)?|pictures?|图片|图像|视觉|多模态',
        '[ _-](?:inputs?|contents?|parts?|understanding|modality|support)',
      ),
      special: words([
        // Ollama
        'missing data required for image input',
        // vLLM
        'at most 0 (?:image|multi-?modal)|\\bimage=0\\b',
        'is not a (?:multi-?modal|vision) model',
        // OpenAI, Azure
        `(?:image_url|input_image|images?)${Q} (?:is|are) only supported`,
        // Templates and gateways
        `(?:only (?:supports?|accepts?|handles?)|(?:supports|accepts|handles) only) text(?: (?:inputs?|contents?|messages?|modality|prompts?))?(?=\\s*(?:[.,;:!/()\\-–—]|$|\\b(?:for|in|with|by|on|when|and|or)\\b))`,
        '\\btext[- ]only\\b',
        // LM Studio, for the results of tools
        'only text [\\w ]{0,30}(?:is|are) supported',
        ...MUST_BE_TEXT,
      ]),
    },
  ],
  [
    'documents',
    {
      name: name('pdfs?|documents?|files?|audio|input_file|input_audio'),
      special: words(['unsupported mime type:? (?:application/pdf|audio/)', ...MUST_BE_TEXT]),
    },
  ],
  [
    'system',
    {
      name: name(
        `(?:system|developer)${Q} ${ROLES}|role(?::|\\s?=)? ?${Q}(?:system|developer)|variant ${Q}(?:system|developer)|system_?instructions?`,
      ),
      special: words([
        // OpenAI: “'messages[0].role' does not support 'system' with this model”
        `role${Q} does not support ${Q}(?:system|developer)\\b`,
        `invalid value: ${Q}(?:system|developer)${Q}`,
        `(?:system|developer)${Q} is not one of`,
        // Templates in vLLM and llama.cpp. All other roles of a request alternate.
        '(?<!optional\\)? system message.{0,20})roles must alternate(?!.*in a row)',
        'only user and assistant roles|other than user and assistant',
        `got role ${Q}(?:system|developer)`,
        'first message must (?:use the|be from the|be from a|be a|have the role) user',
        'must (?:start|begin) with a user',
        `roles?${Q}:? (?:must|should|can only) be (?:one of|either)?:? ?${Q}(?:user|assistant)\\b(?![^.]*\\b(?:system|developer)\\b)`,
        `role${Q}: input should be ${Q}user${Q}(?:,| or) ${Q}assistant`,
      ]),
    },
  ],
  [
    'tools',
    {
      name: name(
        'tools|tool[ _-]?(?:use|usage|calls?|calling|config|support|parameters?|capabilit(?:y|ies))|function[ _-]?(?:calls?|calling)|functions|工具|函数',
        ' (?:support|capabilit(?:y|ies))',
      ),
      special: words([
        // vLLM, SGLang, llama.cpp
        'tool choice requires --enable-auto-tool-choice',
        'tool[ -]call parser',
        'tools param requires --jinja',
        `unknown variant ${Q}tool\\b`,
        'requires a chat template with tool support',
      ]),
    },
  ],
];

/** As a word: not in the name of a model, of another field, or of a field inside it, such as “tools[0].name”. */
function name(names: string, more = ''): RegExp {
  const rest = more === '' ? '' : `(?:${more})*`;
  return new RegExp(`(?<![\\w-])(?:${names})${rest}(?![\\w-]|\\.\\w|\\[)`, 'i');
}

function words(patterns: readonly string[]): RegExp {
  return new RegExp(patterns.join('|'), 'i');
}
