/**
 * Runs a server and records every byte on its pipes: `node tee.ts FOLDER COMMAND ARGUMENT…` writes the client's lines to
 * `PID.in` and the server's to `PID.out`.
 */
import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';

const [folder = '', command = '', ...args] = process.argv.slice(2);
const server = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
const file = (end: string) => join(folder, `${process.pid}.${end}`);

process.stdin.on('data', (bytes) => {
  appendFileSync(file('in'), bytes);
  server.stdin.write(bytes);
});
process.stdin.on('end', () => server.stdin.end());
server.stdin.on('error', () => {});
server.stdout.on('data', (bytes) => {
  appendFileSync(file('out'), bytes);
  process.stdout.write(bytes);
});
server.on('error', (error) => {
  console.error(error.message);
  process.exitCode = 1;
});
server.on('close', (code) => process.exit(code ?? 1));
process.on('SIGTERM', () => server.kill());
