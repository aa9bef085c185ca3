import { request } from 'node:http';
import { ask, type Got } from '../http.ts';
import { type Blocks, readBlocks } from '../stream.ts';

/** An MCP client for valid and invalid messages. */

export type Rpc = {
  id?: unknown;
  method?: string;
  params?: Record<string, unknown>;
  result?: Record<string, unknown>;
  error?: { code: number; message: string; data?: unknown };
};

export type McpAnswer = { status: number; headers: Headers; type: string; text: string; body: Rpc };

export type HeaderValues = Record<string, string>;

/** The messages of an event stream. */
export type Messages = {
  status: number;
  headers: Headers;
  /** Undefined once the stream has ended. */
  next(): Promise<Rpc | undefined>;
  /** Reads up to and including the first message with this method. */
  until(method: string): Promise<Rpc>;
  rest(): Promise<Rpc[]>;
  raw(): string;
  close(): Promise<void>;
};

export type McpClient = {
  /** Posts any body; a string is sent unchanged. */
  post(body: unknown, headers?: HeaderValues): Promise<McpAnswer>;
  send(method: string, headers?: HeaderValues): Promise<McpAnswer>;
  /** Resolves with the headers; messages are received as they are read. */
  stream(body: unknown, headers?: HeaderValues): Promise<Messages>;
  open(params?: object): Promise<McpSession>;
};

export type McpSession = {
  id: string;
  opened: Rpc;
  post(body: unknown, headers?: HeaderValues): Promise<McpAnswer>;
  ask(method: string, params?: object): Promise<Rpc>;
  notify(method: string, params?: object): Promise<McpAnswer>;
  /** Calls a tool. */
  call(name: string, args?: object, more?: { id?: string | number; meta?: object }): Promise<Messages>;
  /** Calls a tool and reads to the end: the response and the messages before it. */
  callToEnd(name: string, args?: object, meta?: object): Promise<{ answer: Rpc; before: Rpc[] }>;
  end(): Promise<McpAnswer>;
};

export const rpc = (id: unknown, method: string, params?: unknown) => ({
  jsonrpc: '2.0',
  id,
  method,
  ...(params !== undefined && { params }),
});

export const mcpClient = (url: () => string): McpClient => {
  const send = (method: string, body: unknown, headers: HeaderValues): Promise<Got> => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    return ask(`${url()}/v1/mcp`, { method, headers, ...(body !== undefined && { body: text }) });
  };

  const answerOf = async (response: Got): Promise<McpAnswer> => {
    const text = await response.text();
    const type = response.headers.get('content-type') ?? '';
    const body = type.startsWith('application/json') ? JSON.parse(text) : {};
    return { status: response.status, headers: response.headers, type, text, body };
  };

  const client: McpClient = {
    post: async (body, headers = {}) => answerOf(await send('POST', body, headers)),
    send: async (method, headers = {}) => answerOf(await send(method, undefined, headers)),
    stream: async (body, headers = {}) => readMessages(await send('POST', body, headers)),
    async open(params) {
      const { headers, body: opened } = await client.post(rpc('init', 'initialize', params));
      return sessionOf(client, headers.get('mcp-session-id') ?? '', opened);
    },
  };
  return client;
};

const sessionOf = ({ post, send, stream }: McpClient, id: string, opened: Rpc): McpSession => {
  let last = 0;
  const own = { 'mcp-session-id': id };
  const session: McpSession = {
    id,
    opened,
    post: (body, headers = {}) => post(body, { ...own, ...headers }),
    async ask(method, params) {
      last += 1;
      return (await session.post(rpc(last, method, params))).body;
    },
    notify: (method, params) => session.post({ jsonrpc: '2.0', method, ...(params && { params }) }),
    call(name, args, { id: given, meta } = {}) {
      last += 1;
      const params = { name, ...(args && { arguments: args }), ...(meta && { _meta: meta }) };
      return stream(rpc(given ?? last, 'tools/call', params), own);
    },
    async callToEnd(name, args, meta) {
      const messages = await (await session.call(name, args, meta ? { meta } : {})).rest();
      const answer = messages.at(-1) ?? {};
      return { answer, before: messages.slice(0, -1) };
    },
    end: () => send('DELETE', own),
  };
  return session;
};

/** Reads an event stream, or a response of one JSON object as a single message. */
const readMessages = (response: Got): Messages => {
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
  const blocks = isJson ? oneBlock(response) : readBlocks(response);
  const messages: Messages = {
    ...blocks,
    async next() {
      for (let block = await blocks.next(); block !== undefined; block = await blocks.next()) {
        const data = block.split('\n').find((line) => line.startsWith('data: '));
        if (data !== undefined) return JSON.parse(data.slice(6));
      }
      return undefined;
    },
    async until(method) {
      for (;;) {
        const message = await messages.next();
        if (!message) throw new Error(`the stream ended before '${method}': ${blocks.raw()}`);
        if (message.method === method) return message;
      }
    },
    async rest() {
      const rest: Rpc[] = [];
      for (let next = await messages.next(); next; next = await messages.next()) rest.push(next);
      return rest;
    },
  };
  return messages;
};

const oneBlock = (response: Got): Blocks => {
  let text: string | undefined;
  return {
    status: response.status,
    headers: response.headers,
    async next() {
      if (text !== undefined) return undefined;
      text = await response.text();
      return `data: ${text}`;
    },
    raw: () => text ?? '',
    close: async () => response.leave(),
  };
};

/** Sends headers that clients normally set themselves. @returns the status */
export const rawStatus = (
  url: string,
  { method = 'POST', headers, body = '' }: { method?: string; headers: HeaderValues; body?: string },
): Promise<number> =>
  new Promise((resolve, reject) => {
    const sent = request(`${url}/v1/mcp`, { method, headers }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    });
    sent.on('error', reject);
    sent.end(method === 'POST' ? body : undefined);
  });

export const text = ({ result }: Rpc): unknown => {
  const [first] = (result?.content ?? []) as { text?: string }[];
  return first?.text;
};
