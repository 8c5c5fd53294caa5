/**
 * Wine 8 does not know the socket options with which Node asks for keep-alive. `fetch` sets them before it connects, so
 * that no connection comes about.
 */
import { Socket } from 'node:net';

Socket.prototype.setKeepAlive = function () {
  return this;
};
