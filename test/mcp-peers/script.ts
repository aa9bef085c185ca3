/**
 * What a scripted MCP server does, whatever carries its messages: a handler a method, which a test replaces at any
 * time. It knows nothing of the protocol but the handshake, and checks nothing: what came is there to look at.
 */

export type Message = {
  jsonrpc?: string;
  id?: string | number | null;
  method?: string;
  // As deep as a message of the protocol may be; a test knows what it asks for.
  params?: Params;
  result?: Params;
  error?: { code: number; message: string };
};

export type Params = { [name: string]: unknown };

/** A request, as its handler sees it. */
export type Asked = {
  id: string | number;
  params: Params;
  /** To the client, on the stream of the request where it has one. */
  send(message: object): void;
  notify(method: string, params?: object): void;
  /** Asks the client; its answer, which may be an error. */
  request(method: string, params?: object): Promise<Message>;
};

/** @returns the result, or nothing: then the request stays without an answer. @throws RpcError */
export type Handler<More = object> = (asked: Asked & More) => unknown;

export type Script<More = object> = Record<string, Handler<More>>;

export class RpcError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export const text = (text: string) => ({ content: [{ type: 'text', text }] });

export const tool = (name: string, more: object = {}) => ({
  name,
  description: `Does ${name}`,
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
  ...more,
});

/** Agrees to whatever version it is asked for, and has one tool, which repeats what it is told. */
export const obliging = (): Script => ({
  initialize: ({ params }) => ({
    protocolVersion: params.protocolVersion,
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: 'scripted', version: '1.0.0' },
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools: [tool('repeat')] }),
  'tools/call': ({ params }) => text(`told: ${JSON.stringify(params.arguments)}`),
});

/** Waits, where a script does, until the test says so. */
export const gate = (): { opened: Promise<void>; open(): void } => {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
};
