import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Test } from 'tap';

/**
 * A scripted MCP server over HTTP: it performs the handshake and lists its tools; `on` holds all other behavior and
 * any deviation. It records the requests in order.
 */

type Message = {
  id?: string | number;
  method?: string;
  params?: Record<string, unknown>;
  [member: string]: unknown;
};

export type Asked = {
  http: string;
  url: string;
  headers: IncomingMessage['headers'];
  message: Message;
};

export type Exchange = Asked & {
  response: ServerResponse;
  /** Responds with JSON. */
  result(value: object): void;
  error(code: number, message: string): void;
  status(code: number, body?: string): void;
  /** Starts a stream; returns a function that writes an event. */
  stream(first?: string): (message: object, id?: string) => void;
};

type Handler = (exchange: Exchange) => void;

const VERSION = '2025-11-25';

/** @param wanted its port; a peer that is closed and opened again needs one of `freePort` */
export const startPeer = async (t: Test, on: Record<string, Handler> = {}, wanted = 0) => {
  const asked: Asked[] = [];
  const handlers: Record<string, Handler> = { ...on };
  let tools: object[] = [{ name: 'echo', inputSchema: { type: 'object' } }];
  let sessions = 0;

  const defaults: Record<string, Handler> = {
    initialize({ response, result }) {
      sessions += 1;
      response.setHeader('mcp-session-id', `session-${sessions}`);
      result({
        protocolVersion: VERSION,
        capabilities: { tools: {} },
        serverInfo: { name: 'peer', version: '1' },
      });
    },
    'tools/list': ({ result }) => result({ tools }),
    'tools/call': ({ message, result }) => {
      const { arguments: given } = message.params ?? {};
      result({ content: [{ type: 'text', text: JSON.stringify(given) }] });
    },
    ...Object.fromEntries([
      ['GET', ({ status }: Exchange) => status(405)],
      ['DELETE', ({ status }: Exchange) => status(204)],
    ]),
  };

  const server = createServer(async (request, response) => {
    const body = await text(request).catch(() => '');
    const message: Message = body === '' ? {} : JSON.parse(body);
    const entry = { http: request.method ?? '', url: request.url ?? '', headers: request.headers, message };
    asked.push(entry);
    const name = message.method ?? (message.id === undefined ? entry.http : 'response');
    const handle = handlers[name] ?? defaults[name];
    if (handle) handle(exchangeOf(entry, response));
    else response.writeHead(202).end();
  });
  server.listen(wanted, '127.0.0.1');
  await once(server, 'listening');
  // The server is listening on a port.
  const { port } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close').catch(() => {});
  };
  t.teardown(async () => {
    if (server.listening) await close();
  });
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    asked,
    on: handlers,
    /** The names of the received requests. */
    names: () =>
      asked.map(({ http, message }) => message.method ?? (message.id === undefined ? http : 'response')),
    of: (name: string) => asked.filter(({ http, message }) => (message.method ?? http) === name),
    offer(...names: string[]) {
      tools = names.map((each) => ({ name: each, inputSchema: { type: 'object' } }));
    },
    close,
    async open() {
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
    },
  };
};

const exchangeOf = (asked: Asked, response: ServerResponse): Exchange => {
  const answer = (body: object): void => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ jsonrpc: '2.0', id: asked.message.id, ...body }));
  };
  return {
    ...asked,
    response,
    result: (result) => answer({ result }),
    error: (code, message) => answer({ error: { code, message } }),
    status: (code, body) => void response.writeHead(code).end(body),
    stream(first = '') {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(first);
      return (message, id) =>
        void response.write(
          `${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`,
        );
    },
  };
};
