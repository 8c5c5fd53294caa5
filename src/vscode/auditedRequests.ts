import type { Audit, AuditEntry, Disposable, ServerHost, ServerRequests } from '../ports.ts';

/** The same, with a line in the audit log for everything that a server asks of the user. */
export function auditedRequests(requests: ServerRequests, audit: Audit): ServerRequests {
  const { elicit, sample, roots } = requests;
  return {
    ...(roots ? { roots: () => roots.call(requests) } : {}),
    ...(elicit
      ? {
          elicit: (request, by, signal) => {
            const entry = {
              kind: 'elicitation',
              server: by.server,
              chat: by.chats[0],
              name: request.kind,
            } as const;
            return recorded(audit, entry, () => elicit.call(requests, request, by, signal));
          },
        }
      : {}),
    ...(sample
      ? {
          sample: (request, by, signal) => {
            const entry = { kind: 'sampling', server: by.server, chat: by.chats[0] } as const;
            return recorded(audit, entry, () => sample.call(requests, request, by, signal));
          },
        }
      : {}),
  };
}

async function recorded<T extends object>(
  audit: Audit,
  entry: Omit<AuditEntry, 'outcome'>,
  work: () => Promise<T>,
): Promise<T> {
  const startedMs = Date.now();
  const record = (outcome: AuditEntry['outcome']) =>
    audit.record({ ...entry, consent: 'asked', outcome, ms: Date.now() - startedMs });
  try {
    const answer = await work();
    record('action' in answer ? (OUTCOMES.get(answer.action) ?? 'ok') : 'ok');
    return answer;
  } catch (error) {
    record('denied');
    throw error;
  }
}

/** How answers of people are called in the log. */
const OUTCOMES: ReadonlyMap<unknown, AuditEntry['outcome']> = new Map([
  ['decline', 'denied'],
  ['cancel', 'cancelled'],
]);

/** A line for each server that was started, or that could not be. */
export function auditStarts(host: Pick<ServerHost, 'onDidChange' | 'states'>, audit: Audit): Disposable {
  const known = new Map<string, string>();
  const look = async (server: string) => {
    const kind = (await host.states()).get(server)?.kind ?? 'idle';
    if (known.get(server) === kind) return;
    known.set(server, kind);
    if (kind === 'ready' || kind === 'failed') {
      audit.record({ kind: 'start', server, outcome: kind === 'ready' ? 'ok' : 'error' });
    }
  };
  return host.onDidChange((server, what) => {
    if (what === 'state') void look(server);
  });
}
