/** Hands the runner's lanes to the processes of the test files: a connection holds a lane until it ends. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { createTemporaryFolder } from '../process.ts';
import { type Lane, startLane } from './lane.ts';

const variable = 'FILECHAT_LANES';

/** Starts the lanes and tells the test processes about them through the environment. */
export async function serveLanes(count: number): Promise<AsyncDisposable> {
  await using started = new AsyncDisposableStack();
  const folder = started.adopt(createTemporaryFolder('lanes'), ({ dispose }) => dispose());
  const free: Lane[] = await Promise.all(
    Array.from({ length: count }, async () => started.use(await startLane())),
  );
  const waiting: Socket[] = [];
  const serve = () => {
    while (free.length > 0 && waiting.length > 0) hold(waiting.shift() as Socket, free.shift() as Lane);
  };
  const hold = (socket: Socket, lane: Lane) => {
    socket.write(`${JSON.stringify(lane)}\n`);
    socket.once('close', () => {
      free.push(lane);
      serve();
    });
  };
  const server = createServer((socket) => {
    // A test process that is killed resets its connection, which the close event reports as well.
    socket.on('error', () => undefined);
    waiting.push(socket);
    serve();
  });
  const path = process.platform === 'win32' ? '\\\\.\\pipe\\filechat-lanes' : join(folder.path, 'lanes.sock');
  await once(server.listen(path), 'listening');
  started.defer(() => void server.close());
  process.env[variable] = path;
  started.defer(() => void delete process.env[variable]);
  const owned = started.move();
  return { [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** A lane of the runner's, or one of its own for a file that runs alone. */
export async function claimLane(): Promise<Lane & AsyncDisposable> {
  const path = process.env[variable];
  if (!path) return startLane();
  const socket = connect(path);
  let line = '';
  for await (const chunk of socket.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    line += chunk;
    if (line.endsWith('\n')) break;
  }
  const lane: Lane = JSON.parse(line);
  return {
    ...lane,
    [Symbol.asyncDispose]: async () => {
      socket.end();
      socket.destroy();
    },
  };
}
