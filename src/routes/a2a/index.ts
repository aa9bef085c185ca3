import { z } from 'zod';
import {
  type DescribedAnswer,
  type ErrorDescription,
  eventStream,
  type RequestHeaderName,
  TRACE_HEADERS,
} from '../../http/described.ts';
import type { Family, FamilyHead } from '../../http/family.ts';
import type { Needs } from '../../http/needs.ts';
import { decodeSegment } from '../../http/query.ts';
import { JSON_TYPE } from '../../http/reply.ts';
import { type Method, type Route, type RouteRequest, route } from '../../http/route.ts';
import { AgentCard } from '../../protocols/a2a/card.ts';
import { SendRequest } from '../../protocols/a2a/decode-shape.ts';
import {
  type A2aError,
  ErrorEnvelope,
  invalidRequest,
  methodNotAllowed,
  unsupportedAction,
  unsupportedPath,
} from '../../protocols/a2a/errors.ts';
import { ListTasksResponse, SendMessageResponse, StreamResponse, Task } from '../../protocols/a2a/model.ts';
import { PushConfig, PushConfigInput, PushConfigList } from '../../protocols/a2a/push/config.ts';
import { HistoryLengthQuery, PageQuery, TaskListQuery } from '../../protocols/a2a/task-query.ts';
import type { JsonObject } from '../../schema/json.ts';
import { answered, errorsFor } from './answers.ts';
import type { Cards } from './cards.ts';
import type { A2aAnswer, A2aRequest, PushHandlers, TaskHandlers } from './handlers.ts';
import { A2A_JSON, parseBody, versionProblem } from './negotiation.ts';

/**
 * The routes of A2A and their common checks (a2a.md 2, 3), in this order: scope, version, path, size, content type,
 * JSON. The handlers do the rest.
 */
export type A2aParts = { tasks: TaskHandlers; push: PushHandlers; cards: Cards };

export const a2aRoutes = (parts: A2aParts): Family[] => [
  {
    ...COMMON,
    path: CARD_PATH,
    routes: [discovery(parts.cards)],
    refuse: ({ method, path, allowed }) => {
      throw allowed.length > 0 ? methodNotAllowed(method, allowed.join(', ')) : unsupportedPath(path);
    },
  },
  {
    ...COMMON,
    path: INTERFACE_PATH,
    lenient: true,
    routes: operations(parts),
    refuse: (request) => {
      throw unknown(request);
    },
  },
];

const INTERFACE_PATH = '/v1/a2a';
const CARD_PATH = '/.well-known/agent-card.json';
const CONFIGS = 'tasks/:task_id/pushNotificationConfigs';

const COMMON = {
  needs: 'invoke',
  errors: ({ header }: Parameters<Family['errors']>[0]) => errorsFor(header('accept')),
  check: ({ header, query }: FamilyHead) => versionProblem(header('a2a-version'), query),
} as const;

const A2A_ERRORS: ErrorDescription = { schema: ErrorEnvelope, prefix: 'A2a', types: [A2A_JSON] };
const failures = { 404: ErrorEnvelope };

/** Documents JSON under both of its media types. */
const json = (schema: z.ZodType, description: string): DescribedAnswer => ({
  description,
  content: { [JSON_TYPE]: schema, [A2A_JSON]: schema },
});

const aTask = json(Task, 'The task.');
const events = eventStream(StreamResponse, 'the task, then its changes, until it ends or waits');

const operations = (parts: A2aParts): Route[] => [
  ...taskOperations(parts.tasks),
  ...pushOperations(parts.push),
  ...operation('get', 'extendedAgentCard', parts.cards.extended, {
    id: 'getA2aExtendedCard',
    summary: 'The card with several agents',
    description:
      'Its token shows all agents; a principal with `invoke` sees the agents that it may invoke. 501 when no extended card is configured.',
    needs: 'invoke',
    security: 'extendedCardBearer',
    hasOwnCredential: parts.cards.hasToken,
    responses: { 200: json(AgentCard, 'The card.'), 501: ErrorEnvelope },
  }),
];

const taskOperations = (tasks: TaskHandlers): Route[] => [
  ...operation('post', 'message:send', tasks.send, {
    id: 'sendA2aMessage',
    summary: 'Send a message and return its task',
    description: 'Responds when the task has ended or waits, or at once with `returnImmediately`.',
    headers: TRACE_HEADERS,
    again: tasks.sendAgain,
    body: SendRequest,
    responses: {
      200: json(SendMessageResponse, 'The task of the message.'),
      409: ErrorEnvelope,
      422: ErrorEnvelope,
    },
  }),
  ...operation('post', 'message:stream', tasks.stream, {
    id: 'streamA2aMessage',
    summary: 'Send a message and stream its task',
    description: 'The stream ends when the task has ended or waits. A disconnect does not cancel the task.',
    headers: TRACE_HEADERS,
    again: tasks.streamAgain,
    body: SendRequest,
    responses: { 200: events, 409: ErrorEnvelope, 422: ErrorEnvelope },
  }),
  ...operation('get', 'tasks', tasks.list, {
    id: 'listA2aTasks',
    summary: 'Tasks, most recently changed first',
    description: 'Filters: context, status and time of the last change. Artifacts are included on request.',
    query: TaskListQuery,
    responses: { 200: json(ListTasksResponse, 'One page of tasks.') },
  }),
  ...operation('get', 'tasks/:task_id', (request, { task_id }) => tasks.get(request, task_id), {
    id: 'getA2aTask',
    summary: 'One task',
    description: '`historyLength` limits the messages in the response.',
    query: HistoryLengthQuery,
    responses: { 200: aTask },
  }),
  ...operation('post', 'tasks/:task_id:cancel', (request, { task_id }) => tasks.cancel(request, task_id), {
    id: 'cancelA2aTask',
    summary: 'Cancel a task',
    description: '409 when the task has ended.',
    responses: { 200: aTask, 409: ErrorEnvelope },
  }),
  ...SUBSCRIPTIONS.flatMap(([method, id]) =>
    operation(
      method,
      'tasks/:task_id:subscribe',
      (request, { task_id }) => tasks.subscribe(request, task_id),
      {
        id,
        summary: 'Stream a task',
        description: 'The current task, then its changes. Rejected for a task that has ended.',
        responses: { 200: events },
      },
    ),
  ),
];

const SUBSCRIPTIONS = [
  ['get', 'followA2aTask'],
  ['post', 'subscribeToA2aTask'],
] as const;

const pushOperations = (push: PushHandlers): Route[] => [
  ...operation('post', CONFIGS, (request, { task_id }) => push.create(request, task_id), {
    id: 'createA2aPushConfig',
    summary: 'Create a push notification configuration',
    description:
      'Each change is sent to the URL as a POST, until it is accepted or the attempts are exhausted.',
    again: push.createAgain,
    body: PushConfigInput,
    responses: { 200: json(PushConfig, 'The config, with its id.'), 422: ErrorEnvelope },
  }),
  ...operation('get', CONFIGS, (request, { task_id }) => push.list(request, task_id), {
    id: 'listA2aPushConfigs',
    summary: 'Push notification configurations of a task',
    description: 'In the order of their ids.',
    query: PageQuery,
    responses: { 200: json(PushConfigList, 'One page of configs.') },
  }),
  ...operation(
    'get',
    `${CONFIGS}/:config_id`,
    (request, { task_id, config_id }) => push.get(request, task_id, config_id),
    {
      id: 'getA2aPushConfig',
      summary: 'One push notification configuration',
      description: 'The stored configuration.',
      responses: { 200: json(PushConfig, 'The config.') },
    },
  ),
  ...operation(
    'delete',
    `${CONFIGS}/:config_id`,
    (request, { task_id, config_id }) => push.remove(request, task_id, config_id),
    {
      id: 'deleteA2aPushConfig',
      summary: 'Delete a push notification configuration',
      description: 'Succeeds also when the configuration does not exist.',
      responses: {
        200: json(z.object({}), 'Removed, or not there, where the request names a version.'),
        204: 'Removed, or not there.',
      },
    },
  ),
];

type Ids = { task_id: string; config_id: string };
type Call = (request: A2aRequest, ids: Ids) => A2aAnswer;
type About = Pick<
  Route['spec'],
  'id' | 'summary' | 'description' | 'responses' | 'security' | 'hasOwnCredential'
> & {
  needs?: Needs;
  headers?: readonly RequestHeaderName[];
  query?: z.ZodType<Record<string, unknown>>;
  body?: z.ZodType;
  again?(request: A2aRequest, created: JsonObject): A2aAnswer;
};

const OF_TENANT = [
  { tenant: '', suffix: '', of: '' },
  { tenant: ':tenant/', suffix: 'OfTenant', of: ', of one agent' },
] as const;

/** Declares an operation with and without a leading tenant. */
const operation = (method: Method, path: string, call: Call, about: About): Route[] =>
  OF_TENANT.map(({ tenant, suffix, of }) => {
    const { id, summary, body, query = NO_QUERY, headers = [], again, ...more } = about;
    return route[method](`${INTERFACE_PATH}/${tenant}${path}`, {
      ...more,
      id: id + suffix,
      summary: summary + of,
      headers: [...headers, 'A2A-Version'],
      tag: 'a2a',
      needs: about.needs ?? (method === 'get' ? 'read' : 'invoke'),
      errors: A2A_ERRORS,
      params: pathValues(tenant + path),
      query,
      ...(body && { body, reads: 'text' as const }),
      ...(again && {
        idempotent: true as const,
        again: (request: Handled, created: JsonObject) =>
          shaped(again(requestOf(request, body !== undefined), created), request.header('accept')),
      }),
      responses: { ...failures, ...about.responses },
      handle(request) {
        if (Object.values(request.params).includes('')) throw NO_TASK_ID;
        const ids = { task_id: '', config_id: '', ...request.params };
        return shaped(call(requestOf(request, body !== undefined), ids), request.header('accept'));
      },
    });
  });

const VALUES = {
  tenant: z.string().meta({ description: 'id of the agent of the tasks' }),
  task_id: z.string().meta({ description: 'id of a task, which is the id of its run' }),
  config_id: z.string().meta({ description: 'id of a push notification config' }),
};

const pathValues = (path: string): z.ZodType<Record<string, string>> =>
  z.object(Object.fromEntries(Object.entries(VALUES).filter(([name]) => path.includes(`:${name}`))));

/** The handlers validate query parameters themselves, so that all problems are reported at once. */
const NO_QUERY = z.looseObject({});

const NO_TASK_ID = invalidRequest([
  {
    field: 'taskId',
    description: 'task action path must include a task id before the action suffix',
  },
]);

const discovery = (cards: Cards): Route =>
  route.get(CARD_PATH, {
    id: 'getA2aCard',
    summary: 'Card of the public agent',
    description:
      'Entry point of A2A clients: the interface URLs and abilities of the agent. 404 when no agent exists.',
    tag: 'a2a',
    needs: 'nothing',
    headers: ['If-None-Match', 'A2A-Version'],
    errors: A2A_ERRORS,
    responses: {
      200: { ...json(AgentCard, 'The card.'), headers: { ETag: 'Of the card as it is now.' } },
      304: 'As before.',
      ...failures,
    },
    handle: (request) => cards.discover(request),
  });

/** Below the interface, a path with another method is an unknown path (a2a.md 2). */
const METHODS = ['DELETE', 'GET', 'HEAD', 'POST'];

const unknown = ({ method, path, allowed }: Parameters<Family['refuse']>[0]): A2aError => {
  if (!METHODS.includes(method) && allowed.length > 0) return methodNotAllowed(method, allowed.join(', '));
  const segments = path
    .slice(INTERFACE_PATH.length)
    .split('/')
    .filter((segment) => segment !== '');
  const [collection, task] = segments.slice(-2);
  const isTask = segments.length <= 3 && collection === 'tasks' && task !== undefined;
  return method === 'POST' && isTask ? unsupportedAction(decodeSegment(task)) : unsupportedPath(path);
};

type Handled = RouteRequest<Record<string, string>, Record<string, unknown>, unknown>;

const requestOf = (
  { principal, scope, params, query, body, header, origin, hold, ip, route: path, keyed }: Handled,
  reads: boolean,
): A2aRequest => ({
  principal,
  from: { ip: ip(), route: path },
  scope,
  tenant: params.tenant,
  // `body` is a string because the route reads text.
  body: reads ? parseBody(header('content-type'), String(body)) : undefined,
  header,
  origin,
  hold,
  keyed,
  query: (name) => {
    const value = query[name];
    return typeof value === 'string' ? value : undefined;
  },
});

const shaped = (answer: A2aAnswer, accept: string | undefined): unknown =>
  answer instanceof Promise ? answer.then((value) => answered(value, accept)) : answered(answer, accept);
