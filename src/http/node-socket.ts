import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import type { Answer } from './answer.ts';
import type { ListenAddress } from './listen-address.ts';
import { openNodeResponse, readNodeRequest } from './node-exchange.ts';
import { IDLE_MS } from './node-limits.ts';
import { cannotListen, type Listening, type ListenOptions } from './socket.ts';
import { removeStaleSocket } from './socket-file.ts';
import type { Tls } from './tls.ts';
import { MAX_HEADER_BYTES } from './uws.ts';

/**
 * Listens with `node:http` on systems without a binary of uWebSockets.js.
 *
 * Guarantees: a client observes the same limits, refusals and closed connections as with uWebSockets.js. A connection
 * serves one request at a time; a client that sends the next one before the response has ended is disconnected.
 * Relies on the pipeline to respond to every request that it receives.
 */

const LIMITS = {
  maxHeaderSize: MAX_HEADER_BYTES,
  highWaterMark: 64 * 1024,
  headersTimeout: IDLE_MS,
  keepAliveTimeout: IDLE_MS,
  connectionsCheckingInterval: IDLE_MS / 4,
  // A long body may take as long as it keeps arriving; `onData` and `BodyRoom` limit the pauses.
  requestTimeout: 0,
  noDelay: true,
  insecureHTTPParser: false,
};

const createServerFor = async (tls: Tls | undefined): Promise<Server> => {
  if (!tls) return createServer(LIMITS);
  const https = await import('node:https');
  const { cert, key } = tls;
  return https.createServer({ ...LIMITS, cert, key, minVersion: 'TLSv1.2', handshakeTimeout: IDLE_MS });
};

/** @throws Unavailable when the address cannot be bound */
export const listenOnNode = async (
  answer: Answer,
  { address, budget, tls }: ListenOptions,
): Promise<Listening> => {
  const server = await createServerFor(tls);
  // The size limit is sufficient; a count limit would drop headers silently.
  server.maxHeadersCount = 0;
  const connections = new WeakMap<Socket, Connection>();
  server.on('connection', (socket) => {
    if (!budget.opened()) socket.destroy();
    socket.on('close', () => budget.closed());
  });
  // With TLS, requests arrive on another socket than the connection's, after the handshake.
  server.on(tls ? 'secureConnection' : 'connection', (socket: Socket) => {
    const connection: Connection = { response: undefined };
    connections.set(socket, connection);
    // uWebSockets.js does not respond to a client that has closed its half either.
    socket.on('end', () => socket.destroy());
    socket.on('close', () => connection.response?.abort());
  });
  const respond = (req: IncomingMessage, res: ServerResponse): void => {
    const { socket } = req;
    // Node parses all requests of a chunk, even after the first one has closed the connection.
    if (socket.destroyed) return;
    const connection = connections.get(socket);
    if (!connection || connection.response?.isOpen()) {
      socket.destroy();
      return;
    }
    if (req.httpVersion !== '1.1') {
      res.writeHead(505, { connection: 'close' }).end();
      return;
    }
    const response = openNodeResponse(req, res);
    connection.response = response;
    answer(response.wire, readNodeRequest(req), NETWORK);
    if (!req.readableFlowing) req.resume();
  };
  const handle = (req: IncomingMessage, res: ServerResponse): void => {
    // Node delivers the body of the request before this one after it has parsed the whole chunk.
    if (connections.get(req.socket)?.response?.isOpen()) setImmediate(respond, req, res);
    else respond(req, res);
  };
  server.on('request', handle);
  server.on('checkExpectation', handle);
  server.on('clientError', refuse);
  await listenExclusively(server, address);
  const taken = server.address();
  return {
    port: typeof taken === 'object' ? taken?.port : undefined,
    stop() {
      // `close` of an HTTP server would also close idle connections, whose next request must receive a 503.
      NetServer.prototype.close.call(server);
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
};

type Connection = { response: { isOpen(): boolean; abort(): void } | undefined };

const NETWORK = { from: 'network' } as const;

/** Responds to a request that the parser of Node rejects. */
const refuse = (error: NodeJS.ErrnoException, socket: Socket): void => {
  const status = REFUSALS.find(([code]) => code.test(error.code ?? ''))?.[1];
  if (status === undefined || !socket.writable || socket.bytesWritten > 0) socket.destroy();
  else socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
};

/** No response is safe to a request with an ambiguous end, see framing.ts. */
const REFUSALS: readonly [code: RegExp, status: string | undefined][] = [
  [/^HPE_HEADER_OVERFLOW$/, '431 Request Header Fields Too Large'],
  [/^HPE_(?:UNEXPECTED|INVALID)_CONTENT_LENGTH$|^HPE_INVALID_TRANSFER_ENCODING$/, undefined],
  [/^HPE_/, '400 Bad Request'],
];

/** @throws Unavailable when the address cannot be bound */
export const listenExclusively = async (server: Server, address: ListenAddress): Promise<void> => {
  if ('path' in address) await removeStaleSocket(address.path);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => reject(cannotListen(address, cause)));
    server.listen({ ...address, exclusive: true }, resolve);
  });
};
