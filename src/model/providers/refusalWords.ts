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
  return FEATURES.filter(([, { name, needed, special }]) => {
    if (special?.test(reason) || needed.test(reason)) return true;
    return sentences.some((sentence) => name.test(sentence));
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
  `${NOT}(?: (?:yet|currently|be|an?|the|been))* (?:support|accept|enable|allow|permit|available|capable|configur|recogni[sz]ed|implemented|handled|loaded|possible|adjustable|valid (?:for|(?:content )?type|parameter|field|option|argument|role))`,
  `\\b(?:cannot|(?:can|may) not|can['’]t|do(?:es)?(?: not|n['’]t)) (?:be )?(?:process|handle|take|have|use|read|see|understand|interpret|view|call|make|perform|consume|send|offer|work with|set\\b|change|specif|stream)`,
  'unable to (?:use|handle|process|read|stream)',
  '\\b(?:unsupported|unrecogni[sz]ed|unavailable|disabled|deprecated|forbidden|locked|incapable|lacks?|rejects|refus(?:es|ing))\\b',
  '\\bno effect\\b|\\bnot (?:been )?(?:trained|fine-?tuned|designed|built|intended)\\b',
  // Of fields, and of the types of content
  '\\b(?:unknown|unexpected) (?:variant|parameter|field|name|(?:keyword )?argument|key|property|option|(?:message )?role|(?:content |part |item |chunk )*type)',
  '\\binvalid (?:parameter|field|argument|property|value|(?:message )?role|(?:content |message )?(?:part |block |item |chunk )?type)',
  '\\bextra (?:inputs|fields)|\\bwas unexpected',
  '\\b(?:must|should) be (?:unset|omitted|removed|absent|left out|(?:an )?empty)',
  '\\b(?:must|should) not be (?:set|sent|used|given|passed|present|provided|specified|included)',
  '\\b(?:disable|omit|turn off|do not (?:send|use|set|pass|provide|include))\\b',
  '\\b(?:property|field|parameter|argument|key) \\S+ does not exist',
  'no endpoints (?:found|available)',
  '\\bno (?:\\S+ ){0,2}(?:support|capabilit|input|encoder|processor|projector)|\\bno (?:vision|streaming|tools)\\b',
  '\\b(?:support|capability|encoder|processor|projector) (?:is )?missing',
  '不支持|不可用',
]);

/** About one kind of an input, its size, or something inside it. */
const LIMITED = words([
  '\\b(?:larger|bigger|longer|smaller|greater|higher|lower|less|fewer|more|(?<!other )than|above|below|exceed\\w*|too|maximum|minimum|between|range|at least|up to)\\b',
  '\\b(?:formats?|mime|encoding|codec|base64|decoded|corrupt\\w*|urls?|remote|animated|resolution|dimensions|pixels|password)\\b',
  '\\bimage generation|\\bduplicate\\b',
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
  /** What it needs, which the model has not. */
  readonly needed: RegExp;
  /** Sentences of known servers and templates that say it otherwise. */
  readonly special?: RegExp;
}

/** Written by providers around a name. */
const Q = '[\'"`’]?';
/** Content must be a string, as Groq, Pydantic, Go, Rust and llama.cpp write it. */
const MUST_BE_TEXT = [
  `content(?:\\.str)?${Q}(?:\\),)?[\\s:]*(?:'msg': ')?(?:(?:value )?must be a string|(?:input )?should be a valid string|expected a string,? but got an array|to be a (?:plain )?string)`,
  'expected (?:a )?(?:text|string)\\b[^.]{0,30} (?:got|received|found) [^.]{0,20}image',
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
      ...named(
        'stream(?:s|ed|ing)?|streaming_not_supported|sse|server-sent events|InvokeModelWithResponseStream|ConverseStream|流式',
      ),
      special: words([
        // OpenAI
        'must be verified to stream',
        `stream${Q}(?: must be|:) (?:set to )?${Q}false|set ${Q}stream${Q}(?: to |\\s?=\\s?)${Q}false`,
        'only (?:\\w+ ){0,2}non-?stream',
        // llama.cpp
        'cannot use tools with stream',
      ]),
    },
  ],
  [
    'temperature',
    {
      ...named('temperature|温度'),
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
      ...named(
        'images?|image_urls?|input_image|vision|visual|non-?text|multi-?modal(?:ity)?|pictures?|图片|图像|视觉|多模态',
        '[ _-](?:inputs?|contents?|parts?|understanding|modality|capabilit(?:y|ies)|support)',
      ),
      special: words([
        // Ollama
        'missing data required for image input',
        // vLLM
        '\\b0 (?:image|multi-?modal)|\\bimage=0\\b|\\bimages\\b[^.]{0,40} (?:maximum|limit)(?: of| is)? 0\\b',
        '\\bnot (?:an? )?(?:multi-?modal|vision|vlm)\\b',
        // Templates and gateways
        `(?:only (?:supports?|accepts?|handles?|process(?:es)?|reads?|takes?|understands?)|(?:supports|accepts|handles) only) text(?: (?:inputs?|contents?|messages?|modality|prompts?))?(?=\\s*(?:[.,;:!/()\\-–—]|$|\\b(?:for|in|with|by|on|when|and|or)\\b))`,
        '\\b(?:text|language)[- ]only\\b|\\btext is the only\\b',
        // LM Studio, for the results of tools
        'only text [\\w ]{0,30}(?:is|are) (?:supported|accepted|allowed|permitted)',
        ...MUST_BE_TEXT,
      ]),
    },
  ],
  [
    'documents',
    {
      ...named('pdfs?|documents?|files?|audio|input_file|input_audio'),
      special: words(['unsupported mime type:? (?:application/pdf|audio/)', ...MUST_BE_TEXT]),
    },
  ],
  [
    'system',
    {
      ...named(
        `(?:system|developer)${Q} ${ROLES}|role(?::|\\s?=)? ?${Q}(?:system|developer)|variant ${Q}(?:system|developer)|system_?instructions?`,
      ),
      special: words([
        // OpenAI: “'messages[0].role' does not support 'system' with this model”
        `role${Q} does not support ${Q}(?:system|developer)\\b`,
        `invalid value: ${Q}(?:system|developer)${Q}`,
        `(?:system|developer)${Q} is not one of`,
        // Templates in vLLM and llama.cpp. All other roles of a request alternate.
        '(?<!optional\\)? system message.{0,20})roles must alternate(?!.*in a row)',
        `only ${Q}user${Q} and ${Q}assistant${Q} roles|other than user and assistant`,
        `got role ${Q}(?:system|developer)`,
        `first message (?:must|should|has to|needs to|to) (?:\\w+ ){1,3}${Q}user`,
        'must (?:start|begin) with a user',
        `roles?${Q}:? (?:must|should|can only) be (?:one of|either|in)?:? ?[[(]?${Q}(?:user|assistant)\\b(?!(?:(?!found|got|received)[^.])*\\b(?:system|developer)\\b)`,
        `(?:role${Q}: input should be|permitted:) ${Q}user${Q}(?:,| or) ${Q}assistant`,
      ]),
    },
  ],
  [
    'tools',
    {
      ...named(
        'tools|tool[ _-]?(?:use|usage|calls?|calling|config|support|parameters?|capabilit(?:y|ies))|function[ _-]?(?:calls?|calling)|functions|工具|函数',
        ' (?:support|capabilit(?:y|ies))',
      ),
      special: words([
        // vLLM, SGLang, llama.cpp
        'tool choice requires --enable-auto-tool-choice',
        'tool[ -]call parser',
        `unknown variant ${Q}tool\\b`,
      ]),
    },
  ],
];

/** As a word: not in the name of a model, of another field, or of a field inside it, such as “tools[0].name”. */
function named(names: string, more = ''): Pick<Wording, 'name' | 'needed'> {
  const rest = more === '' ? '' : `(?:${more})*`;
  const name = `(?<![\\w-])(?:${names})${rest}(?![\\w-]|\\.\\w|\\[)`;
  const needed = [
    '(?:is|are) only (?:available|supported|accepted|allowed|enabled|possible)\\b',
    '(?:param )?requires? (?:--|[^.]{0,40}\\b(?:model|template|parser|support|capability)\\b)',
  ];
  return { name: words([name]), needed: words(needed.map((each) => `${name}${Q} ${each}`)) };
}

function words(patterns: readonly string[]): RegExp {
  return new RegExp(patterns.join('|'), 'i');
}
