import { randomUUID } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';
import { answerOf, isRequest, type Pending, settles } from './answering.ts';
import { Inbox } from './inbox.ts';
import { type Message, obliging, type Script } from './script.ts';

/**
 * A scripted MCP server over Streamable HTTP. An answer is JSON, or a stream as soon as its handler sends something
 * before it; a handler may also write the response itself, and return nothing.
 */

export type Received = { message: Message; headers: IncomingHttpHeaders };

export type OverHttp = { response: ServerResponse; headers: IncomingHttpHeaders };

export type HttpPeer = {
  url: string;
  script: Script<OverHttp>;
  received: Inbox<Received>;
  /** Headers of what was not a POST, such as `GET`, the oldest first. */
  others: { method: string; headers: IncomingHttpHeaders }[];
  /** An entry of the configuration. */
  entry(id: string, more?: object): object;
  /** On every open listening stream. */
  notify(method: string, params?: object): void;
  listening(): number;
  /** No session of before is known from now on. */
  expire(): void;
  /** Refuses connections, until it is started again on the same port. */
  stop(): Promise<void>;
  start(): Promise<void>;
};

type Options = {
  script?: Script<OverHttp>;
  /** Whether it issues session ids. */
  sessions?: boolean;
  /** What it answers to GET: by default that there is no listening stream. */
  onGet?: (response: ServerResponse, headers: IncomingHttpHeaders) => void;
  /** Every answer is a stream. */
  streams?: boolean;
};

const json = (response: ServerResponse, status: number, body: object): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};

export const beginStream = (response: ServerResponse): void => {
  if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
};

/** One message as an event; `id` makes the stream one that can be taken up again. */
export const event = (message: object, id?: string): string =>
  `${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(message)}\n\n`;

const bodyOf = async (request: IncomingMessage): Promise<Message> => {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk;
  return JSON.parse(text);
};

export const startHttpPeer = async (t: Test, options: Options = {}): Promise<HttpPeer> => {
  const { sessions = true, streams = false, onGet } = options;
  const script: Script<OverHttp> = { ...obliging(), ...options.script };
  const received = new Inbox<Received>();
  const others: HttpPeer['others'] = [];
  const pending: Pending = new Map();
  const listeners = new Set<ServerResponse>();
  let known = new Set<string>();

  const isUnknown = (headers: IncomingHttpHeaders): boolean =>
    sessions && !known.has(String(headers['mcp-session-id']));

  const answer = async (message: Message, response: ServerResponse, headers: IncomingHttpHeaders) => {
    const send = (message: object): void => {
      beginStream(response);
      response.write(event(message));
    };
    const said = await answerOf(script, message, { send }, pending, { response, headers });
    if (said === undefined) return;
    if (message.method === 'initialize' && sessions) {
      const id = randomUUID();
      known.add(id);
      response.setHeader('mcp-session-id', id);
    }
    if (!streams && !response.headersSent) return json(response, 200, said);
    send(said);
    response.end();
  };

  const onPost = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const message = await bodyOf(request);
    received.put({ message, headers: request.headers });
    if (message.method !== 'initialize' && isUnknown(request.headers)) {
      return json(response, 404, {
        jsonrpc: '2.0',
        id: null,
        error: { code: -32001, message: 'Session not found' },
      });
    }
    if (isRequest(message)) return answer(message, response, request.headers);
    settles(pending, message);
    response.writeHead(202).end();
  };

  const onListen = (response: ServerResponse, headers: IncomingHttpHeaders): void => {
    if (onGet === undefined) {
      response.writeHead(405).end();
      return;
    }
    listeners.add(response);
    response.once('close', () => listeners.delete(response));
    onGet(response, headers);
  };

  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    const { method = '', headers } = request;
    if (method === 'POST') {
      void onPost(request, response);
      return;
    }
    others.push({ method, headers });
    if (method === 'GET') {
      onListen(response, headers);
      return;
    }
    known.delete(String(headers['mcp-session-id']));
    response.writeHead(method === 'DELETE' ? 204 : 405).end();
  };

  let server = createServer(serve);
  const listen = (port: number): Promise<void> =>
    new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
  const stop = (): Promise<void> =>
    new Promise((resolve) => {
      server.closeAllConnections();
      server.close(() => resolve());
    });
  await listen(0);
  // It listens on a port, so its address is one.
  const { port } = server.address() as AddressInfo;
  t.teardown(stop);
  const url = `http://127.0.0.1:${port}/mcp`;
  return {
    url,
    script,
    received,
    others,
    entry: (id, more) => ({ id, transport: 'http', url, ...more }),
    notify(method, params) {
      for (const response of listeners)
        response.write(event({ jsonrpc: '2.0', method, ...(params && { params }) }));
    },
    listening: () => listeners.size,
    expire: () => {
      known = new Set();
    },
    stop,
    async start() {
      server = createServer(serve);
      await listen(port);
    },
  };
};
