/** Valid messages and files, one JSON value in each line, for the grammar to break. */
import { PNG_BASE64 } from '../kit/png.ts';
import type { Spec } from './spec.ts';

const lines = (text: string): readonly Spec[] =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Spec);
const one = (text: string): Spec => JSON.parse(text) as Spec;

/** What a server sends by itself. */
export const MESSAGES = lines(`
{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":"log","logger":"l"}}
{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1,"total":2,"message":"m"}}
{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}
{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"x"}}
{"jsonrpc":"2.0","id":1,"method":"roots/list"}
{"jsonrpc":"2.0","id":"a","method":"ping"}
{"jsonrpc":"2.0","id":9,"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"text","text":"x"}}],"maxTokens":9}}
{"jsonrpc":"2.0","id":10,"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{"a":{"type":"string"}}}}}
{"jsonrpc":"2.0","id":11,"method":"elicitation/create","params":{"mode":"url","message":"m","url":"{CANARY}/open","elicitationId":"e"}}
{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"not asked for"}]}}
`);

export const BLOCKS = lines(`
{"type":"text","text":"x"}
{"type":"image","data":"${PNG_BASE64}","mimeType":"image/png"}
{"type":"audio","data":"SUQz","mimeType":"audio/mpeg"}
{"type":"resource_link","uri":"x://y","name":"n","title":"t","description":"d","mimeType":"text/plain"}
{"type":"resource","resource":{"uri":"file:///a.txt","text":"x","mimeType":"text/plain"}}
{"type":"resource","resource":{"uri":"x://b.bin","blob":"${PNG_BASE64}","mimeType":"application/pdf"}}
{"type":"hologram","data":"${PNG_BASE64}","mimeType":"image/png"}
{"type":"text","text":"{\\"nested\\":{\\"image\\":\\"${PNG_BASE64}\\"}}"}
`);
/** Of 20 MB. */
export const LARGE_BLOCKS = lines(`
{"type":"image","mimeType":"image/png","data":{"$repeat":["AAAA",5000000]}}
{"type":"text","text":{"$repeat":["AAAA",5000000]}}
`);

export const INITIALIZED = one(
  '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"b","version":"1"},"instructions":"x"}',
);
export const RESOURCE = one('{"uri":"x://y","name":"n","title":"t","mimeType":"text/plain","size":1}');
export const TEMPLATE = one('{"uriTemplate":"x://{a}","name":"n"}');
export const CONTENTS = one('{"uri":"x://r","text":"x","mimeType":"text/plain"}');
export const ERROR = one('{"error":{"code":1,"message":"m","data":{}}}');
/** A call of a model, in the format of OpenAI. */
export const CALL_EVENT = one(
  '{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"k","type":"function","function":{"name":"bad__t0","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}',
);

export const HEADERS = lines(`
{"content-type":"text/html"}
{"content-type":"application/json; charset=utf-16"}
{"content-type":"text/event-stream"}
{"retry-after":"3600"}
{"retry-after":"never"}
{"www-authenticate":"Bearer resource_metadata=\\"{CANARY}/metadata\\""}
{"content-encoding":"br"}
`) as readonly Record<string, string>[];
export const NOISE = lines(`
"\\n"
"Listening…\\n"
"\\ufeff"
"data: {\\"half\\":\\n\\n"
":\\n"
{"$repeat":["noise\\n",200000]}
{"$repeat":["x",20000000]}
`);

/** The servers by way. */
export const CONFIGS: Readonly<Record<'stdio' | 'http' | 'sse', Spec>> = {
  stdio: one(
    '{"servers":{"bad":{"command":"{NODE}","args":["{SERVER}","stdio","{ROOT}/case","{ROOT}/record"]}}}',
  ),
  http: one('{"servers":{"bad":{"type":"http","url":"{ENEMY}/mcp"}}}'),
  sse: one('{"servers":{"bad":{"type":"sse","url":"{ENEMY}/sse"}}}'),
};
export const CONFIG = one(
  '{"servers":{"bad":{"type":"http","url":"{ENEMY}/mcp","headers":{"a":"b"}},"x":{"command":"/nonexistent","args":["a"],"env":{"A":"b"},"envFile":"env"}},"inputs":[{"id":"i","type":"promptString"}]}',
);
export const SETTINGS = one(
  '{"approve":"auto","maxSteps":2,"results.maxInlineChars":100,"results.allowedMimeTypes":["*/*"],"disabledTools":["x.*"],"results.fields":{"bad.t0":{"image":{"type":"image/png"}}}}',
);
export const models = (provider: string): Spec => ({
  models: { m: { provider, model: 'm', baseUrl: '{ENEMY}/v1' } },
});

/** Where links of a folder lead, names in it, and what chats and arguments refer to. */
export const LINKS =
  '../secret.txt¦..¦{ROOT}/secret.txt¦{ROOT}/home¦/nonexistent¦.¦link¦/proc/self/environ¦/dev/zero¦notes.txt'.split(
    '¦',
  );
export const NAMES =
  'link¦notes.txt¦cmdassets¦cmdassets/tool-image-20260101-000000-aaaaaaaa-1.png¦a b\u202e.txt¦dir/x.txt¦.filechat/a.md¦cmdassets/.x'.split(
    '¦',
  );
export const TARGETS =
  'link/secret.txt¦cmdassets/secret.txt¦link/../../secret.txt¦dir/../../secret.txt'.split('¦');
