// Loaded before the suite, whose servers and clients share one busy process. Node's servers would close idle connections
// on which a request has just arrived, and no client may repeat a lost call. So idle connections stay open here.
import { Server } from 'node:http';

const IDLE_MS = 10 * 60_000;
const { listen } = Server.prototype;

Server.prototype.listen = function (...given) {
  this.keepAliveTimeout = IDLE_MS;
  return listen.apply(this, given);
};
