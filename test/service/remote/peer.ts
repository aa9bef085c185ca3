import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';

/** An A2A service with the minimum that a client needs, whose tasks a test controls. It has no streams. */

export type PeerTask = {
  id: string;
  contextId: string;
  /** The messages that it received, oldest first. */
  said: SentMessage[];
  /** Sets its state, with an optional text. */
  becomes(state: string, text?: string): void;
};

export type SentMessage = {
  messageId: string;
  role: string;
  parts: { text?: string }[];
  taskId?: string;
  contextId?: string;
};

export type Peer = {
  url: string;
  /** The next task that is created. */
  task(): Promise<PeerTask>;
  /** Resolves with a task that receives a reply to its question. */
  answered(): Promise<PeerTask>;
  /** `METHOD /path` of each request except polls. */
  calls: string[];
  headers: IncomingMessage['headers'][];
  polls(): number;
  /** Responds to the next message with this instead of a task. */
  answersWith(status: number, body: unknown): void;
  /** Ids of cancelled tasks. */
  cancelled: string[];
};

type Stored = PeerTask & { state: string; text: string | undefined };

const inbox = <Item>() => {
  const items: Item[] = [];
  const hearing: ((item: Item) => void)[] = [];
  return {
    put(item: Item) {
      const hears = hearing.shift();
      if (hears) hears(item);
      else items.push(item);
    },
    take(): Promise<Item> {
      const item = items.shift();
      return item === undefined ? new Promise((resolve) => hearing.push(resolve)) : Promise.resolve(item);
    },
  };
};

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  let text = '';
  for await (const chunk of request) text += chunk;
  return text;
};

const send = (response: ServerResponse, status: number, body: unknown): void => {
  response.writeHead(status, { 'content-type': 'application/a2a+json' });
  response.end(JSON.stringify(body));
};

const refusal = (code: number, message: string, reason?: string) => ({
  error: {
    code,
    message,
    details: reason === undefined ? [] : [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason }],
  },
});

const wire = ({ id, contextId, state, text }: Stored) => ({
  id,
  contextId,
  status: {
    state,
    ...(text !== undefined &&
      state !== 'TASK_STATE_COMPLETED' && {
        message: { messageId: `${id}-m`, role: 'ROLE_AGENT', parts: [{ text }] },
      }),
  },
  ...(text !== undefined &&
    state === 'TASK_STATE_COMPLETED' && { artifacts: [{ artifactId: 'response', parts: [{ text }] }] }),
});

export const startPeer = async (t: Test): Promise<Peer> => {
  const tasks = new Map<string, Stored>();
  const made = inbox<PeerTask>();
  const answers = inbox<PeerTask>();
  const calls: string[] = [];
  const headers: IncomingMessage['headers'][] = [];
  const cancelled: string[] = [];
  const instead: { status: number; body: unknown }[] = [];
  let polls = 0;

  const newTask = (contextId: string): Stored => {
    const task: Stored = {
      id: `task-${tasks.size + 1}`,
      contextId,
      said: [],
      state: 'TASK_STATE_WORKING',
      text: undefined,
      becomes(state, text) {
        task.state = state;
        task.text = text;
      },
    };
    tasks.set(task.id, task);
    return task;
  };

  /** Continues only its own tasks. */
  const take = (response: ServerResponse, message: SentMessage): void => {
    const known = message.taskId === undefined ? undefined : tasks.get(message.taskId);
    const task = known ?? newTask(message.contextId ?? `context-${tasks.size + 1}`);
    task.said.push(message);
    if (known) task.becomes('TASK_STATE_WORKING');
    send(response, 200, { task: wire(task) });
    (known ? answers : made).put(task);
  };

  const server = createServer(async (request, response) => {
    const { method = '', url = '' } = request;
    const body = await bodyOf(request);
    const [, id = '', action] = /^\/tasks\/([^:/]+)(?::(\w+))?$/.exec(url) ?? [];
    const task = tasks.get(id);
    if (action === undefined && method === 'GET') polls += 1;
    else calls.push(`${method} ${url}`);
    headers.push(request.headers);
    if (url === '/message:send') {
      const next = instead.shift();
      return next ? send(response, next.status, next.body) : take(response, JSON.parse(body).message);
    }
    if (!task) return send(response, 404, refusal(404, 'task not found', 'TASK_NOT_FOUND'));
    if (action === 'cancel') {
      cancelled.push(id);
      task.becomes('TASK_STATE_CANCELED');
    }
    if (action === 'subscribe') return send(response, 405, refusal(405, 'no streams here'));
    send(response, 200, wire(task));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  // The server is listening on a port.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    task: made.take,
    answered: answers.take,
    calls,
    headers,
    polls: () => polls,
    answersWith: (status, body) => instead.push({ status, body }),
    cancelled,
  };
};

/** The agent `far`, which the peer executes; it is polled often to keep tests fast. */
export const farAgent = (peer: Pick<Peer, 'url'>, more: object = {}) => ({
  id: 'far',
  description: 'Far away',
  endpoint: {
    base_url: peer.url,
    auth: { type: 'bearer', token: 'the-token' },
    options: { poll_interval_ms: 10 },
    ...more,
  },
});
