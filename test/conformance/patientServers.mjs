// Loaded before the runner, whose servers live in one process with all that it starts. While that is busy, a server of
// Node's closes connections for being idle on which a request has just arrived; a call that is lost so may not be
// made again by any client. That says nothing about the client, so here idle connections stay.
import { Server } from 'node:http';

const IDLE_MS = 10 * 60_000;
const { listen } = Server.prototype;

Server.prototype.listen = function (...given) {
  this.keepAliveTimeout = IDLE_MS;
  return listen.apply(this, given);
};
