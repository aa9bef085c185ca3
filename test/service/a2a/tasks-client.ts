import type { Test } from 'tap';
import type { Artifact, StreamResponse, Task } from '../../../src/protocols/a2a/model.ts';
import { ask, type Got } from '../http.ts';
import { readBlocks } from '../stream.ts';
import { withTools } from '../suspended.ts';
import type { TestTools } from '../tools.ts';
import type { Answer, Troupe, TroupeOptions } from '../troupe.ts';
import { eventShape, sentShape, taskShape } from './shapes.ts';

/** A service, and a client that sends messages, follows their tasks and accepts only objects of the protocol. */

export type Message = { taskId?: string; contextId?: string; messageId?: string; parts?: object[] };

export type Asked = Message & {
  text?: string;
  /** Leading path segment. */
  tenant?: string;
  /** Additional keys of the body. */
  body?: object;
  configuration?: object;
};

export type TaskClient = {
  troupe: Troupe;
  tools: TestTools;
  ask(asked: Asked): Promise<Answer>;
  /** The task in the response. */
  send(asked: Asked): Promise<Task>;
  /** Like `send`, without waiting for the end of the task. */
  begin(asked: Asked): Promise<Task>;
  get(task_id: string, query?: string): Promise<Task>;
  stream(asked: Asked, headers?: Record<string, string>): Promise<TaskReader>;
  subscribe(task_id: string, method?: string): Promise<TaskReader>;
};

export type TaskReader = {
  status: number;
  headers: Headers;
  next(): Promise<StreamResponse | undefined>;
  /** Reads up to and including the first status with this state. */
  until(state: string): Promise<StreamResponse[]>;
  rest(): Promise<StreamResponse[]>;
  close(): Promise<void>;
};

export const a2aFor = async (t: Test, options: TroupeOptions = {}): Promise<TaskClient> => {
  const { troupe, tools } = await withTools(t, options);
  const post = (operation: string, { tenant, ...asked }: Asked): [path: string, body: object] => {
    const { text = 'Hello', body = {}, configuration, ...message } = asked;
    return [
      `/v1/a2a/${tenant === undefined ? '' : `${tenant}/`}${operation}`,
      {
        message: { messageId: 'm-1', role: 'ROLE_USER', parts: [{ text }], ...message },
        ...(configuration && { configuration }),
        ...body,
      },
    ];
  };
  const client: TaskClient = {
    troupe,
    tools,
    ask: (asked) => troupe.post(...post('message:send', asked)),
    send: async (asked) => taskIn(await client.ask(asked)),
    begin: async ({ configuration, ...asked }) =>
      taskIn(await client.ask({ ...asked, configuration: { ...configuration, returnImmediately: true } })),
    async get(task_id, query = '') {
      const { status, body } = await troupe.call('GET', `/v1/a2a/tasks/${task_id}${query}`);
      if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`);
      return taskShape(body);
    },
    async stream(asked, more = {}) {
      const [path, body] = post('message:stream', asked);
      const headers = { 'content-type': 'application/json', ...more };
      return readerOf(await ask(troupe.url + path, { method: 'POST', headers, body: JSON.stringify(body) }));
    },
    subscribe: async (task_id, method = 'POST') =>
      readerOf(await ask(`${troupe.url}/v1/a2a/tasks/${task_id}:subscribe`, { method })),
  };
  return client;
};

const taskIn = ({ status, body }: Answer): Task => {
  if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`);
  return sentShape(body).task;
};

const readerOf = (response: Got): TaskReader => {
  const { status, headers, next, close } = readBlocks(response);
  const reader: TaskReader = {
    status,
    headers,
    close,
    async next() {
      for (let block = await next(); block !== undefined; block = await next())
        if (block.startsWith('data: ')) return eventShape(JSON.parse(block.slice(6)));
      return undefined;
    },
    async until(state) {
      const events: StreamResponse[] = [];
      for (let event = await reader.next(); event; event = await reader.next()) {
        events.push(event);
        if (stateIn(event) === state) return events;
      }
      throw new Error(`the stream ended before ${state}: ${JSON.stringify(events)}`);
    },
    async rest() {
      const events: StreamResponse[] = [];
      for (let event = await reader.next(); event; event = await reader.next()) events.push(event);
      return events;
    },
  };
  return reader;
};

/** The state of an event, without its prefix. */
export const stateIn = (event: StreamResponse): string | undefined => {
  const status =
    'task' in event ? event.task.status : 'statusUpdate' in event ? event.statusUpdate.status : undefined;
  return status?.state.replace('TASK_STATE_', '');
};

export const statesIn = (events: readonly StreamResponse[]): string[] =>
  events.flatMap((event) => stateIn(event) ?? []);

/** The concatenated text of the chunks. */
export const textIn = (events: readonly StreamResponse[]): string =>
  events.reduce((text, event) => {
    if (!('artifactUpdate' in event)) return text;
    const { artifact, append } = event.artifactUpdate;
    return (append ? text : '') + textOf(artifact);
  }, '');

/** The text that a subscriber has received: the artifacts of the first task and all chunks after it. */
export const heardIn = (events: readonly StreamResponse[]): string =>
  events.reduce((text, event) => {
    if ('task' in event) return (event.task.artifacts ?? []).map(textOf).join('');
    if (!('artifactUpdate' in event)) return text;
    const { artifact, append } = event.artifactUpdate;
    return (append ? text : '') + textOf(artifact);
  }, '');

export const textOf = ({ parts }: Pick<Artifact, 'parts'>): string =>
  parts.map((part) => ('text' in part ? part.text : '')).join('');

/** The messages of a task with their roles. */
export const said = ({ history = [] }: Task): string[] =>
  history.map((message) => `${message.role === 'ROLE_USER' ? 'user' : 'agent'}: ${textOf(message)}`);

type Violation = { field: string; description: string };

export const violationsIn = ({ body }: Answer): Violation[] => {
  const { details = [] } = body.error as { details?: { fieldViolations?: Violation[] }[] };
  return details.flatMap(({ fieldViolations = [] }) => fieldViolations);
};

export const reasonIn = ({ body }: Answer): string | undefined => {
  const { details = [] } = body.error as { details?: { reason?: string }[] };
  return details.find(({ reason }) => reason !== undefined)?.reason;
};
