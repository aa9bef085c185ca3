import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import type { ConnectionBudget } from '../http/connection-budget.ts';
import { readNodeRequest } from '../http/node-exchange.ts';
import { listenExclusively } from '../http/node-socket.ts';
import { admit, type Place, type Rejection, rejectPlain } from './admission.ts';
import { LIMITS } from './limits.ts';
import { IDLE_SECONDS, MOST_UNREAD_BYTES, openReport, type Report } from './report.ts';

/** The listener for programs on `node:http`, with the limits that uWebSockets.js has. */

/** A client that has not sent a whole request by then is disconnected. */
const HANDSHAKE_MS = 10_000;

const HTTP_OPTIONS = {
  headersTimeout: HANDSHAKE_MS,
  requestTimeout: HANDSHAKE_MS,
  connectionsCheckingInterval: 1000,
  // A request without `Host` gets the response of the other host rules.
  requireHostHeader: false,
};

/** `closeTimeout` is missing in the types of `ws`: time that a client may keep its side open after the close frames. */
const WS_OPTIONS = {
  noServer: true,
  clientTracking: false,
  autoPong: false,
  maxPayload: LIMITS.cutBytes,
  closeTimeout: 1000,
};

/** @throws Unavailable when the address is not available */
export const listenOnNode = async (
  place: Place,
  budget: ConnectionBudget,
  address: { host: string; port: number },
): Promise<{ port: number; close(): void }> => {
  const server = createServer(HTTP_OPTIONS);
  const served: { by: Place | undefined } = { by: place };
  const sockets = socketsOf(server, budget);
  routesOn(server, served);
  await listenExclusively(server, address);
  return {
    // The address of a listening TCP server is never a path.
    port: (server.address() as AddressInfo).port,
    close() {
      served.by = undefined;
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
};

/** The open connections, including those upgraded to WebSockets. */
const socketsOf = (server: Server, budget: ConnectionBudget): ReadonlySet<Socket> => {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => {
      sockets.delete(socket);
      budget.closed();
    });
    if (!budget.opened()) socket.destroy();
  });
  return sockets;
};

const routesOn = (server: Server, served: { by: Place | undefined }): void => {
  const upgrader = new WebSocketServer(WS_OPTIONS);
  server.on('clientError', (_error, socket) => socket.destroy());
  server.on('request', (req) => reject(req.socket, rejectPlain(readNodeRequest(req))));
  server.on('upgrade', (req, _stream, head) => {
    const { socket } = req;
    // From here on, `node:http` does not listen to the socket, and an error without a listener ends the process.
    socket.on('error', () => socket.destroy());
    if (!socket.writable) return;
    const admission = admit(served.by, readNodeRequest(req), socket.remoteAddress ?? '');
    if (admission.kind === 'admitted') {
      upgrader.handleUpgrade(req, socket, head, (client) => {
        connect(client, socket, openReport(admission.programs, admission.name));
      });
    } else {
      reject(socket, admission);
    }
  });
};

const connect = (client: WebSocket, socket: Socket, report: Report): void => {
  // The default type of messages is Buffer; the types name those of all settings.
  client.on('message', (bytes, isBinary) => report.message(bytes as Buffer, isBinary));
  client.on('ping', (data) => {
    if (client.bufferedAmount <= MOST_UNREAD_BYTES) client.pong(data);
  });
  client.on('error', () => client.terminate());
  client.on('close', () => report.end());
  let readBeforePing = -1;
  // The timeout restarts with every byte in either direction, including those of the ping.
  socket.setTimeout((IDLE_SECONDS / 2) * 1000, () => {
    if (socket.bytesRead === readBeforePing) {
      client.terminate();
      return;
    }
    readBeforePing = socket.bytesRead;
    client.ping();
  });
};

/** Writes to the socket directly, so that no pipelined request after this one is executed. */
const reject = (socket: Socket, rejection: Rejection): void => {
  if (rejection.kind === 'cut') {
    socket.destroy();
    return;
  }
  // The response to an earlier request ends the connection.
  if (!socket.writable) return;
  const { status, headers, text } = rejection;
  const fields = { ...headers, connection: 'close', 'content-length': String(Buffer.byteLength(text)) };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`HTTP/1.1 ${status}\r\n${lines.join('')}\r\n${text}`);
  socket.destroySoon();
};
