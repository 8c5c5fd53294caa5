/**
 * Refreshes the facts about models (`npm run facts`): takes the newest `@earendil-works/pi-ai` from npm, which collects
 * them from models.dev and OpenRouter (MIT), and keeps what src/model/config/facts.ts reads. Look at the diff before
 * committing it.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defined } from '../src/base/json.ts';

const PACKAGE = '@earendil-works/pi-ai';
const TARGET = join(import.meta.dirname, '../src/model/config/facts.json');

/** The providers of the model picker, then others with an OpenAI-compatible address. */
const PROVIDERS = [
  ...['anthropic', 'openai', 'google', 'openrouter', 'mistral', 'groq', 'deepseek', 'xai'],
  ...['cerebras', 'fireworks', 'huggingface', 'moonshotai', 'moonshotai-cn', 'together'],
];

interface Cost {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly inputTokensAbove?: number;
  readonly tiers?: readonly Cost[];
}

interface Entry {
  readonly id: string;
  readonly type: string;
  readonly baseUrl: string;
  readonly reasoning: boolean;
  readonly input: readonly string[];
  readonly cost: Cost;
  readonly contextWindow: number;
}

const folder = mkdtempSync(join(tmpdir(), 'filechat-facts-'));
try {
  // npm prints the name of the file.
  const packed = execFileSync('npm', ['pack', `${PACKAGE}@latest`, '--silent'], {
    cwd: folder,
    encoding: 'utf8',
    shell: process.platform === 'win32',
  });
  execFileSync('tar', ['xf', packed.trim()], { cwd: folder });
  const { version } = readPacked<{ version: string }>('package.json');
  const { generatedAt } = readPacked<{ generatedAt: string }>('dist/providers/data/.manifest.json');
  const lines = PROVIDERS.map(hostLines);
  const source = `${PACKAGE} ${version} (MIT), ${generatedAt.slice(0, 10)}`;
  writeFileSync(TARGET, `{\n"source": ${JSON.stringify(source)},\n"hosts": {\n${lines.join(',\n')}\n}\n}\n`);
  console.log(`${source}: ${lines.join('\n').split('\n').length} lines in ${TARGET}`);
} finally {
  rmSync(folder, { recursive: true });
}

function readPacked<T>(path: string): T {
  return JSON.parse(readFileSync(join(folder, 'package', path), 'utf8'));
}

/** One line per model, so that a refresh is a readable diff. */
function hostLines(provider: string): string {
  const apis = readPacked<Record<string, Record<string, Entry>>>(`dist/providers/data/${provider}.json`);
  const entries = Object.values(apis).flatMap((models) => Object.values(models));
  // Prices of batches are not those of a chat.
  const chats = entries.filter(({ id, type }) => type === 'chat' && !id.endsWith(':batch'));
  const byId = new Map(chats.map((entry) => [entry.id, entry]));
  const hosts = new Set(chats.map(({ baseUrl }) => new URL(baseUrl).host));
  const [host, ...others] = hosts;
  if (host === undefined || others.length > 0) throw new Error(`${provider} has the hosts ${[...hosts]}.`);
  const rows = [...byId.values()]
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .map((entry) => `${JSON.stringify(entry.id)}: ${JSON.stringify(factsOf(entry))}`);
  return `${JSON.stringify(host)}: {\n${rows.join(',\n')}\n}`;
}

function factsOf({ id, reasoning, input, cost, contextWindow }: Entry): object {
  const tiers = cost.tiers?.map((tier) => ({ above: tier.inputTokensAbove, ...priceOf(tier) }));
  // A price of 0 means that the price is unknown, except for the free variants of OpenRouter.
  const isKnown = cost.input > 0 || cost.output > 0 || id.endsWith(':free');
  return defined({
    context: contextWindow > 0 ? contextWindow : undefined,
    images: input.includes('image'),
    reasoning,
    price: isKnown ? { ...priceOf(cost), ...defined({ tiers }) } : undefined,
  });
}

/** A price of 0 for the cache means that there is none, and tokens cost what others cost. */
function priceOf({ input, output, cacheRead, cacheWrite }: Cost): object {
  return {
    input,
    output,
    ...defined({ cachedInput: cacheRead || undefined, cacheWrite: cacheWrite || undefined }),
  };
}
