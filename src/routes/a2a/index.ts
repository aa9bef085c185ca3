import { z } from 'zod';
import type { Family, FamilyHead } from '../../http/family.ts';
import { decodeSegment } from '../../http/query.ts';
import { type Method, type Route, type RouteRequest, type RouteSpec, route } from '../../http/route.ts';
import {
  type A2aError,
  invalidRequest,
  methodNotAllowed,
  unsupportedAction,
  unsupportedPath,
} from '../../protocols/a2a/errors.ts';
import { answered, errorsFor } from './answers.ts';
import type { Cards } from './cards.ts';
import type { A2aAnswer, A2aRequest, PushHandlers, TaskHandlers } from './handlers.ts';
import { parseBody, versionProblem } from './negotiation.ts';
import { ErrorEnvelope, PushConfig, PushConfigList, SendMessage } from './shapes.ts';

/**
 * The routes of A2A (a2a.md 2, 3): what all of them have in common. The order of the checks is scope, version, path,
 * size, content type, JSON; what comes after is of the handlers.
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
const EVENTS = 'text/event-stream of StreamResponse';

const COMMON = {
  scope: 'agent-invocation',
  errors: (header: (name: string) => string | undefined) => errorsFor(header('accept')),
  check: ({ header, query }: FamilyHead) => versionProblem(header('a2a-version'), query),
} as const;

const failures = { 400: ErrorEnvelope, 404: ErrorEnvelope };

const operations = ({ tasks, push, cards }: A2aParts): Route[] =>
  [
    operation('post', 'message:send', tasks.send, {
      summary: 'Sends a message; the answer is its task',
      body: SendMessage,
      responses: { 200: 'SendMessageResponse' },
    }),
    operation('post', 'message:stream', tasks.stream, {
      summary: 'Sends a message, and follows its task',
      body: SendMessage,
      responses: { 200: EVENTS },
    }),
    operation('get', 'tasks', tasks.list, {
      summary: 'Tasks, the last changed first',
      responses: { 200: 'ListTasksResponse' },
    }),
    operation('get', 'tasks/:task_id', (request, { task_id }) => tasks.get(request, task_id), {
      summary: 'One task',
      responses: { 200: 'Task' },
    }),
    operation('post', 'tasks/:task_id:cancel', (request, { task_id }) => tasks.cancel(request, task_id), {
      summary: 'Cancels a task',
      responses: { 200: 'Task', 409: ErrorEnvelope },
    }),
    ...(['get', 'post'] as const).map((method) =>
      operation(
        method,
        'tasks/:task_id:subscribe',
        (request, { task_id }) => tasks.subscribe(request, task_id),
        { summary: 'Follows a task', responses: { 200: EVENTS } },
      ),
    ),
    operation('post', CONFIGS, (request, { task_id }) => push.create(request, task_id), {
      summary: 'Has changes of a task sent to an address',
      body: PushConfig,
      responses: { 200: PushConfig },
    }),
    operation('get', CONFIGS, (request, { task_id }) => push.list(request, task_id), {
      summary: 'Where changes of a task are sent',
      responses: { 200: PushConfigList },
    }),
    operation(
      'get',
      `${CONFIGS}/:config_id`,
      (request, { task_id, config_id }) => push.get(request, task_id, config_id),
      { summary: 'One of these addresses', responses: { 200: PushConfig } },
    ),
    operation(
      'delete',
      `${CONFIGS}/:config_id`,
      (request, { task_id, config_id }) => push.remove(request, task_id, config_id),
      {
        summary: 'Sends nothing there any more',
        responses: { 200: '{}, where the request names a version', 204: 'empty' },
      },
    ),
    operation('get', 'extendedAgentCard', cards.extended, {
      summary: 'The card with all agents',
      responses: { 200: 'AgentCard', 401: ErrorEnvelope, 501: ErrorEnvelope },
    }),
  ].flat();

type Ids = { task_id: string; config_id: string };
type Call = (request: A2aRequest, ids: Ids) => A2aAnswer;
type About = {
  summary: string;
  body?: z.ZodType;
  responses: RouteSpec<unknown, unknown, unknown>['responses'];
};

/** With and without a tenant before it. */
const operation = (method: Method, path: string, call: Call, { body, ...about }: About): Route[] =>
  ['', ':tenant/'].map((tenant) =>
    route[method](`${INTERFACE_PATH}/${tenant}${path}`, {
      ...about,
      tag: 'a2a',
      scope: 'agent-invocation',
      params: PathValues,
      query: Query,
      ...(body && { body, reads: 'text' as const }),
      responses: { ...failures, ...about.responses },
      handle(request) {
        if (Object.values(request.params).includes('')) throw NO_TASK_ID;
        const ids = { task_id: '', config_id: '', ...request.params };
        return shaped(call(requestOf(request, body !== undefined), ids), request.header('accept'));
      },
    }),
  );

const PathValues = z.record(z.string(), z.string());

/** What an operation reads of it is checked there, so that all that is wrong is said at once. */
const Query = z.looseObject({});

const NO_TASK_ID = invalidRequest([
  {
    field: 'taskId',
    description: 'task action path must include a task id before the action suffix',
  },
]);

const discovery = (cards: Cards): Route =>
  route.get(CARD_PATH, {
    summary: 'Card of the public agent',
    tag: 'a2a',
    scope: 'agent-invocation',
    responses: { 200: 'AgentCard', 304: 'as before', ...failures },
    handle: (request) => cards.discover(request),
  });

/** What is below the interface with another method is another path, and not known (a2a.md 2). */
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

const requestOf = ({ scope, params, query, body, header, hold }: Handled, reads: boolean): A2aRequest => ({
  scope,
  tenant: params.tenant,
  // Read as text, so it is one.
  body: reads ? parseBody(header('content-type'), String(body)) : undefined,
  header,
  hold,
  query: (name) => {
    const value = query[name];
    return typeof value === 'string' ? value : undefined;
  },
});

const shaped = (answer: A2aAnswer, accept: string | undefined): unknown =>
  answer instanceof Promise ? answer.then((value) => answered(value, accept)) : answered(answer, accept);
