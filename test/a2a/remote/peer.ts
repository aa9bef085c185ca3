import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';
import { createRemoteAgents } from '../../../src/a2a/remote/agents.ts';
import { RemoteEndpoint } from '../../../src/schema/endpoint.ts';
import type { RemoteSnapshot, RemoteTask, RemoteTurn } from '../../../src/tools/remote-agent.ts';

/** A local service with scripted responses, and a client of it that records its events. */

export type Asked = { method: string; path: string; headers: IncomingHttpHeaders; body: unknown };
export type Answer = (response: ServerResponse, asked: Asked) => void;

/**
 * By method and path, such as `GET /tasks/t-1`; the responses of a list are sent in order, and the last one repeats.
 */
export type Answers = Record<string, Answer | readonly Answer[]>;

export const json =
  (body: unknown, status = 200): Answer =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

/** Sends the given chunks of text; `hold` leaves the stream open. */
export const stream =
  (chunks: readonly string[], { hold = false } = {}): Answer =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const chunk of chunks) response.write(chunk);
    if (!hold) response.end();
  };

export const event = (body: unknown): string => `data: ${JSON.stringify(body)}\n\n`;
export const silence: Answer = () => {};
export const brokenOff: Answer = (response) => void response.socket?.destroy();

export const task = (state: string, more: object = {}) => ({
  id: 't-1',
  contextId: 'c-1',
  status: { state: `TASK_STATE_${state}` },
  ...more,
});

export const agentSays = (text: string) => ({ messageId: 'm', role: 'ROLE_AGENT', parts: [{ text }] });

export const status = (state: string, text?: string) => ({
  statusUpdate: {
    taskId: 't-1',
    contextId: 'c-1',
    status: { state: `TASK_STATE_${state}`, ...(text !== undefined && { message: agentSays(text) }) },
  },
});

export const artifact = (text: string, more: object = {}) => ({
  artifactUpdate: {
    taskId: 't-1',
    contextId: 'c-1',
    artifact: { artifactId: 'a', parts: [{ text }] },
    ...more,
  },
});

export const SEND = 'POST /message:send';
export const READ = 'GET /tasks/t-1';
export const SUBSCRIBE = 'POST /tasks/t-1:subscribe';
export const SUBSCRIBE_GET = 'GET /tasks/t-1:subscribe';
export const CANCEL = 'POST /tasks/t-1:cancel';

export const startPeer = async (t: Test, answers: Answers) => {
  const asked: Asked[] = [];
  const listeners = new Set<() => void>();
  const counts = new Map<string, number>();
  const server = createServer(async (request, response) => {
    const { method = '', url = '', headers } = request;
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) text += chunk;
    const one: Asked = { method, path: url, headers, body: text === '' ? undefined : JSON.parse(text) };
    asked.push(one);
    const route = `${method} ${url.replace(/^\/a2a/, '')}`;
    const nth = counts.get(route) ?? 0;
    counts.set(route, nth + 1);
    const known = answers[route] ?? json({}, 404);
    const answer = typeof known === 'function' ? known : (known[nth] ?? known.at(-1));
    answer?.(response, one);
    for (const listener of listeners) listener();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  // The server is listening on a port.
  const { port } = server.address() as AddressInfo;
  const routes = (): string[] => asked.map(({ method, path }) => `${method} ${path.replace(/^\/a2a/, '')}`);
  return {
    base_url: `http://127.0.0.1:${port}/a2a`,
    asked,
    routes,
    count: (route: string): number => routes().filter((each) => each === route).length,
    /** Resolves once the route was requested this many times. */
    until: (route: string, times = 1): Promise<void> =>
      new Promise((resolve) => {
        const look = (): void => {
          if (routes().filter((each) => each === route).length < times) return;
          listeners.delete(look);
          resolve();
        };
        listeners.add(look);
        look();
      }),
  };
};

type Deps = Parameters<typeof createRemoteAgents>[0];
type Endpoint = Partial<Omit<RemoteEndpoint, 'base_url'>>;

/** The events and the outcome of a turn. */
export const createTurn = (more: Partial<RemoteTurn> = {}) => {
  const submitted: RemoteTask[] = [];
  const snapshots: RemoteSnapshot[] = [];
  const deltas: string[] = [];
  const abandon = new AbortController();
  const turn: RemoteTurn = {
    ...(!more.follow && { say: { message_id: 'm-1', content: [{ type: 'text', text: 'Hello' }] } }),
    onSubmitted: async (accepted) => void submitted.push(accepted),
    onSnapshot: (snapshot) => void snapshots.push(snapshot),
    onText: (delta) => void deltas.push(delta),
    signal: abandon.signal,
    ...more,
  };
  return { turn, submitted, snapshots, deltas, abandon: () => abandon.abort() };
};

export const agentAt = (base_url: string, endpoint: Endpoint = {}, deps: Partial<Deps> = {}) => {
  const warnings: object[] = [];
  const log = { warn: (event: string, fields?: object) => void warnings.push({ ...fields, event }) };
  const agents = createRemoteAgents({ log, ...deps });
  const options = { poll_interval_ms: 10 };
  return { agent: agents(RemoteEndpoint.parse({ base_url, options, ...endpoint })), warnings };
};

/** A complete conversation with a service that sends these responses. */
export const talk = async (
  t: Test,
  answers: Answers,
  { endpoint = {}, turn = {} }: { endpoint?: Endpoint; turn?: Partial<RemoteTurn> } = {},
) => {
  const peer = await startPeer(t, answers);
  const told = createTurn(turn);
  const { agent, warnings } = agentAt(peer.base_url, endpoint);
  const outcome = await agent.converse(told.turn);
  return { ...peer, ...told, outcome, warnings };
};
