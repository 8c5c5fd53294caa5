import assert from 'node:assert/strict';
import { createSdkModel } from '../../../src/model/providers/sdkModel.ts';
import type { RunOutcome } from '../../../src/ports/document.ts';
import type { Usage } from '../../../src/ports/models.ts';
import type { Cleanup } from '../../kit/folder.ts';
import { serveHttp } from '../../kit/http.ts';
import { HI, scene } from '../../unit/loop/scriptedChat.ts';
import { configFor, KEY } from '../helpers/modelServer.ts';
import type { WireFile } from './wireFile.ts';

/** The bytes of one response, and how the connection ends after them. */
export interface Response {
  readonly pieces: readonly Buffer[];
  readonly resets: boolean;
}

export interface Replayed {
  readonly requests: number;
  readonly outcome: RunOutcome;
  readonly error: string | undefined;
  readonly chat: string;
  readonly usage: Usage | undefined;
}

/** Runs a chat against this wire: the given responses, then the last of them for every further request. */
export type Replay = (wire: WireFile, responses: readonly Response[]) => Promise<Replayed>;

/** One server on loopback for all wires. The first segment of the path tells whose request it is. */
export async function startReplay(cleanup: Cleanup): Promise<Replay> {
  const answers = new Map<
    string,
    () => { readonly wire: WireFile; readonly response: Response | undefined }
  >();
  const url = await serveHttp(cleanup, (request, outgoing) => {
    request.resume().once('end', () => {
      const { wire, response } =
        answers.get(request.url?.split('/')[1] ?? '')?.() ?? assert.fail(request.url);
      outgoing.writeHead(wire.status, wire.headers);
      outgoing.flushHeaders();
      for (const piece of response?.pieces ?? []) outgoing.write(piece);
      if (response?.resets) outgoing.write('', () => outgoing.destroy());
      else outgoing.end();
    });
  });
  let runs = 0;
  return async (wire, responses) => {
    runs += 1;
    const id = `${runs}`;
    let requests = 0;
    answers.set(id, () => {
      requests += 1;
      return { wire, response: responses[requests - 1] ?? responses.at(-1) };
    });
    const model = createSdkModel(configFor(wire.provider, `${url}/${id}`), { key: KEY });
    const { document, listener, usages } = scene(HI, [], {
      model,
      maxSteps: 1,
      retryTimer: async () => {},
    });
    const outcome = await listener.run();
    answers.delete(id);
    const error = outcome.error?.replaceAll(new URL(url).host, 'HOST');
    return { requests, outcome, error, chat: document.text(), usage: usages[0] };
  };
}
