import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  AgentCard,
  formatSSEEvent,
  Message,
  SendMessageRequest,
  SendMessageResponse,
  SSE_HEADERS,
  StreamResponse,
  Task,
  TaskArtifactUpdateEvent,
  TaskStatusUpdateEvent,
} from '@a2a-js/sdk';
import { restStatusFor, toRestErrorBody } from '@a2a-js/sdk/errors';
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryTaskStore,
  ServerCallContext,
  type TaskStore,
  validateVersion,
} from '@a2a-js/sdk/server';
import type { Test } from 'tap';

/**
 * An agent of the official SDK, which validates requests and builds the responses; only its routes, which need a web
 * framework, are reimplemented here.
 */

export type Says = {
  status(state: string, text?: string): void;
  artifact(text: string, how?: { append?: boolean; lastChunk?: boolean }): void;
  /** Like `text`, with any part in JSON. */
  part(part: object, how?: { append?: boolean; lastChunk?: boolean }): void;
  /** Responds without a task if nothing else is emitted. */
  message(text: string): void;
};

/** The reaction of the agent to a message; `turn` counts the messages of a task from 0. */
export type Script = (says: Says, text: string, turn: number) => Promise<void>;

const card = (origin: string): AgentCard =>
  AgentCard.fromJSON({
    name: 'SDK agent',
    description: 'Speaks A2A',
    version: '1',
    supportedInterfaces: [{ url: `${origin}/a2a`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' }],
    capabilities: { streaming: true },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [],
  });

/** Creates the task with its first event. */
const sayOn = (bus: ExecutionEventBus, known: Task | undefined, ids: TaskIds): Says => {
  let isThere = false;
  const begin = (): void => {
    if (isThere) return;
    isThere = true;
    const status = { state: 'TASK_STATE_SUBMITTED' };
    bus.publish(
      AgentEvent.task(known ?? Task.fromJSON({ id: ids.taskId, contextId: ids.contextId, status })),
    );
  };
  const says: Says = {
    status(state, text) {
      begin();
      const message = text !== undefined && {
        message: { messageId: `m-${text}`, role: 'ROLE_AGENT', parts: [{ text }], ...ids },
      };
      const status = { state: `TASK_STATE_${state}`, ...message };
      bus.publish(AgentEvent.statusUpdate(TaskStatusUpdateEvent.fromJSON({ ...ids, status })));
    },
    artifact: (text, how) => says.part({ text }, how),
    part(part, how = {}) {
      begin();
      const artifact = { artifactId: 'response', name: 'response', parts: [part] };
      bus.publish(AgentEvent.artifactUpdate(TaskArtifactUpdateEvent.fromJSON({ ...ids, artifact, ...how })));
    },
    message(text) {
      const { contextId } = ids;
      const message = { messageId: `m-${text}`, role: 'ROLE_AGENT', parts: [{ text }], contextId };
      bus.publish(AgentEvent.message(Message.fromJSON(message)));
    },
  };
  return says;
};

type TaskIds = { taskId: string; contextId: string };

const executor = (script: Script, cancelled: string[]): AgentExecutor => {
  const turns = new Map<string, number>();
  return {
    async execute({ taskId, contextId, task, userMessage }, bus) {
      const turn = turns.get(taskId) ?? 0;
      turns.set(taskId, turn + 1);
      const { content } = userMessage.parts[0] ?? {};
      const text = content?.$case === 'text' ? content.value : '';
      await script(sayOn(bus, task, { taskId, contextId }), text, turn);
    },
    async cancelTask(taskId, bus) {
      cancelled.push(taskId);
      const status = { state: 'TASK_STATE_CANCELED' };
      bus.publish(AgentEvent.statusUpdate(TaskStatusUpdateEvent.fromJSON({ taskId, status })));
    },
  };
};

const bodyOf = async (request: IncomingMessage): Promise<unknown> => {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk;
  return text === '' ? {} : JSON.parse(text);
};

type Options = {
  streams?: boolean;
  /** Requests without it are rejected. */
  token?: string;
  /** The port and the tasks of an earlier agent. */
  port?: number;
  store?: TaskStore;
};

export const startSdkAgent = async (t: Test, script: Script, options: Options = {}) => {
  const { streams = true, token, port: wanted = 0, store = new InMemoryTaskStore() } = options;
  const routes: string[] = [];
  const cancelled: string[] = [];
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      const status = restStatusFor(error);
      response.writeHead(status).end(JSON.stringify(toRestErrorBody(error, status)));
    });
  });
  await new Promise<void>((resolve) => server.listen(wanted, '127.0.0.1', resolve));
  /** Aborts all its connections. */
  const stop = (): void => {
    server.close();
    server.closeAllConnections();
  };
  t.teardown(stop);
  // The server is listening on a port.
  const { port } = server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${port}`;
  const handler = new DefaultRequestHandler(card(origin), store, executor(script, cancelled));

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = '', url = '', headers } = request;
    const json = (body: unknown): void => void response.writeHead(200).end(JSON.stringify(body));
    if (url === '/.well-known/agent-card.json') return json(AgentCard.toJSON(card(origin)));
    if (token !== undefined && headers.authorization !== `Bearer ${token}`)
      return void response.writeHead(401).end(JSON.stringify({ error: { message: 'who are you' } }));
    const requestedVersion = headers['a2a-version'];
    const context = new ServerCallContext(typeof requestedVersion === 'string' ? { requestedVersion } : {});
    validateVersion(context.requestedVersion, await handler.getAgentCard(), 'HTTP+JSON');
    const [, id = '', action = ''] = /^\/a2a\/tasks\/([^:]+)(:\w+)?$/.exec(url) ?? [];
    const route = `${method} ${id ? `task${action}` : url.replace('/a2a/', '')}`;
    routes.push(route);
    const params = { id, tenant: '' };
    if (route === 'POST message:send') {
      const sent = await handler.sendMessage(SendMessageRequest.fromJSON(await bodyOf(request)), context);
      const payload: SendMessageResponse['payload'] =
        'status' in sent ? { $case: 'task', value: sent } : { $case: 'message', value: sent };
      return json(SendMessageResponse.toJSON({ payload }));
    }
    if (route === 'GET task') return json(Task.toJSON(await handler.getTask(params, context)));
    if (route === 'POST task:cancel') {
      return json(Task.toJSON(await handler.cancelTask({ ...params, metadata: {} }, context)));
    }
    if (route !== 'POST task:subscribe' || !streams) return void response.writeHead(405).end();
    const events = handler.resubscribe(params, context);
    const first = await events.next();
    response.writeHead(200, SSE_HEADERS);
    if (!first.done) response.write(formatSSEEvent(StreamResponse.toJSON(first.value)));
    for await (const event of events) response.write(formatSSEEvent(StreamResponse.toJSON(event)));
    response.end();
  };
  return { origin, port, base_url: `${origin}/a2a`, routes, cancelled, stop };
};
