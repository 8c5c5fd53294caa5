import type { Failure, FailureKind } from '../ports/failures.ts';

/** `{0}` in the message is replaced by the first argument. */
export type Translate = (message: string, ...args: (string | number | boolean)[]) => string;

/** What the user can do about a failure. */
export type FailureAction =
  | 'setKey'
  | 'selectModel'
  | 'tryAgain'
  | 'openBilling'
  | 'compact'
  | 'showBreakdown'
  | 'openModelSettings'
  | 'restartServer'
  | 'showServerLog'
  | 'editServer';

/** The most useful action first. */
const ACTIONS: Readonly<Record<FailureKind, readonly FailureAction[]>> = {
  key: ['setKey', 'selectModel'],
  access: ['selectModel', 'setKey'],
  model: ['selectModel'],
  rateLimit: ['tryAgain', 'selectModel'],
  overloaded: ['tryAgain', 'selectModel'],
  credit: ['openBilling', 'selectModel', 'tryAgain'],
  unreachable: ['tryAgain', 'selectModel', 'openModelSettings'],
  certificate: ['openModelSettings', 'tryAgain'],
  lost: ['tryAgain'],
  tooLong: ['compact', 'showBreakdown', 'selectModel'],
  format: ['openModelSettings', 'selectModel'],
  failed: ['tryAgain', 'selectModel'],
  refused: ['selectModel', 'tryAgain'],
  server: ['restartServer', 'showServerLog', 'editServer'],
};

export function actionsFor(failure: Failure): readonly FailureAction[] {
  const actions = ACTIONS[failure.kind];
  return billingPage(failure) === undefined ? actions.filter((each) => each !== 'openBilling') : actions;
}

/** Where accounts are topped up, by the host of the API. */
const BILLING_PAGES: ReadonlyMap<string, string> = new Map([
  ['api.anthropic.com', 'https://console.anthropic.com/settings/billing'],
  ['api.openai.com', 'https://platform.openai.com/settings/organization/billing/overview'],
  ['generativelanguage.googleapis.com', 'https://aistudio.google.com/usage'],
  ['openrouter.ai', 'https://openrouter.ai/settings/credits'],
  ['api.mistral.ai', 'https://admin.mistral.ai/organization/billing'],
  ['api.groq.com', 'https://console.groq.com/settings/billing'],
  ['api.deepseek.com', 'https://platform.deepseek.com/top_up'],
  ['api.x.ai', 'https://console.x.ai'],
  ['api.together.xyz', 'https://api.together.ai/settings/billing'],
]);

/** Only from the table, because a response could name an untrusted page. */
export function billingPage({ host }: Failure): string | undefined {
  return BILLING_PAGES.get(host ?? '');
}

/** An error that tells the user what to do next. */
export class RunError extends Error {
  readonly failure: Failure;

  constructor(failure: Failure, options?: ErrorOptions) {
    super(describeFailure(failure), options);
    this.name = 'RunError';
    this.failure = failure;
  }
}

/** What happened, to what, and the reason in the provider's own words. */
export function describeFailure(failure: Failure, t: Translate = fill): string {
  const { reason = '', attempts, waitMinutes } = failure;
  const happened = describeKind(failure, t);
  const parts = [
    sentence([happened, reason].filter((each) => each !== '').join(': ')),
    ...(isForeign(failure) ? [t('Check the model’s provider and baseUrl.')] : []),
    ...(attempts === undefined ? [] : [t('Gave up after {0} attempts.', attempts)]),
    ...(waitMinutes === undefined ? [] : [t('The provider asks you to wait {0} minutes.', waitMinutes)]),
  ];
  return parts.join(' ');
}

function isForeign({ kind, host = '' }: Failure): boolean {
  return kind === 'format' && host !== '';
}

/** Without a host, the reason is a whole sentence. */
function describeKind(failure: Failure, t: Translate): string {
  const { kind, host = '', model = '', status = 0, code = '' } = failure;
  if (host === '') return '';
  switch (kind) {
    case 'key':
      return t('The key was not accepted for {0}', host);
    case 'access':
      return t('{0} denied access to the model {1}', host, model);
    case 'model':
      return t('{0} has no model {1}', host, model);
    case 'rateLimit':
      return t('{0} is limiting the rate of requests', host);
    case 'overloaded':
      return t('{0} is overloaded', host);
    case 'credit':
      return t('The account at {0} has no credit left', host);
    case 'unreachable':
      return describeNetwork(failure, t);
    case 'certificate':
      return t('The certificate of {0} is not trusted ({1})', host, code);
    case 'lost':
      return t('The connection to {0} was lost before the reply ended', host);
    case 'tooLong':
      return t('The chat is too long for {0}', model);
    case 'format':
      return status === 404
        ? t('Nothing was found at {0}', failure.baseUrl ?? host)
        : t('{0} sent a response in an unknown format', host);
    case 'failed':
      return status === 0 ? t('{0} reported an error', host) : t('{0} failed with status {1}', host, status);
    case 'refused':
      return t('{0} refused the request', host);
    case 'server':
      return '';
  }
}

function describeNetwork({ baseUrl, host = '', code = '' }: Failure, t: Translate): string {
  const address = baseUrl ?? host;
  switch (code) {
    case 'ECONNREFUSED':
      return t('Could not connect to {0}: the connection was refused. Is the server running?', address);
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return t(
        'Could not connect to {0}: the host was not found. Check the address and the network',
        address,
      );
    case 'ENETUNREACH':
      return t('Could not connect to {0}: there is no network', address);
    case 'EHOSTUNREACH':
      return t('Could not connect to {0}: the host is unreachable', address);
    case BLOCKED_PORT:
      return t('Could not connect to {0}: requests to this port are not allowed. Use another port', address);
    default:
      return t('Could not connect to {0}: the connection timed out', address);
  }
}

/** `fetch` refuses some ports that belong to other protocols, and has no code for it. */
export const BLOCKED_PORT = 'BLOCKED_PORT';

/** Codes that say that there was no connection at all. */
export const UNREACHABLE: ReadonlySet<string> = new Set([
  ...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ENETUNREACH', 'EHOSTUNREACH', 'ETIMEDOUT'],
  ...['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', BLOCKED_PORT],
]);

function sentence(text: string): string {
  return /[.!?…]["”’)]?$/.test(text) ? text : `${text}.`;
}

function fill(message: string, ...args: readonly (string | number | boolean)[]): string {
  return message.replace(/\{(\d+)\}/g, (_, index: string) => String(args[Number(index)] ?? ''));
}
