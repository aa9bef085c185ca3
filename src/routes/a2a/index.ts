import type { Described, Mount, MountHead, Operation } from '../../http/mount.ts';
import { parseQuery } from '../../http/query.ts';
import { A2aError, methodNotAllowed, unsupportedPath } from '../../protocols/a2a/errors.ts';
import { answered, errorsFor } from './answers.ts';
import type { Cards } from './cards.ts';
import { described } from './described.ts';
import type { A2aAnswer, A2aRequest, PushHandlers, TaskHandlers } from './handlers.ts';
import { checkVersion, parseBody } from './negotiation.ts';
import { INTERFACE_PATH, matchPath, type Pattern } from './paths.ts';

/**
 * The routes of A2A (a2a.md 2, 3): what all of them have in common. The order of the checks is scope, version, path,
 * size, content type, JSON; what comes after is of the handlers.
 */
export type A2aParts = { tasks: TaskHandlers; push: PushHandlers; cards: Cards };

const CARD_PATH = '/.well-known/agent-card.json';

type Row = Pattern & {
  /** It takes a JSON body. */
  body?: true;
  call(request: A2aRequest, ...values: readonly string[]): A2aAnswer;
};

const GET = ['GET', 'HEAD'];
const POST = ['POST'];
const CONFIGS = 'tasks/:task_id/pushNotificationConfigs';

/** An action goes before the task whose id it might be. */
const operationsOf = ({ tasks, push, cards }: A2aParts): readonly Row[] => [
  { methods: POST, path: 'message:send', body: true, call: tasks.send },
  { methods: POST, path: 'message:stream', body: true, call: tasks.stream },
  { methods: GET, path: 'tasks', call: tasks.list },
  { methods: POST, path: 'tasks/:task_id:cancel', call: (request, id = '') => tasks.cancel(request, id) },
  {
    methods: [...POST, ...GET],
    path: 'tasks/:task_id:subscribe',
    call: (request, id = '') => tasks.subscribe(request, id),
  },
  { methods: GET, path: 'tasks/:task_id', call: (request, id = '') => tasks.get(request, id) },
  { methods: POST, path: CONFIGS, body: true, call: (request, id = '') => push.create(request, id) },
  { methods: GET, path: CONFIGS, call: (request, id = '') => push.list(request, id) },
  {
    methods: GET,
    path: `${CONFIGS}/:config_id`,
    call: (request, id = '', config = '') => push.get(request, id, config),
  },
  {
    methods: ['DELETE'],
    path: `${CONFIGS}/:config_id`,
    call: (request, id = '', config = '') => push.remove(request, id, config),
  },
  { methods: GET, path: 'extendedAgentCard', call: cards.extended },
];

/** What is below the interface with another method is another path, and not known (a2a.md 2). */
const METHODS = ['DELETE', 'GET', 'HEAD', 'POST'];

const refusedMethod = (rows: readonly Row[], method: string, path: string): A2aError => {
  const allowed = METHODS.filter((each) => !(matchPath(rows, each, path) instanceof A2aError));
  return allowed.length === 0 ? unsupportedPath(path) : methodNotAllowed(method, allowed.join(', '));
};

export const a2aRoutes = (parts: A2aParts): Mount[] => {
  const rows = operationsOf(parts);

  const find = (head: MountHead): Operation => {
    const { method, path } = head;
    checkVersion(head.header('a2a-version'), head.query);
    if (!METHODS.includes(method)) throw refusedMethod(rows, method, path);
    const found = matchPath(rows, method, path);
    if (found instanceof A2aError) throw found;
    const { row, tenant, values } = found;
    return {
      route: `${INTERFACE_PATH}/${tenant === undefined ? '' : ':tenant/'}${row.path}`,
      text: row.body === true,
      handle: (request) => {
        const body = row.body && parseBody(request.header('content-type'), request.body);
        const asked = requestOf(request, { tenant, body, query: head.query });
        return shaped(row.call(asked, ...values), request.header('accept'));
      },
    };
  };

  const discover = ({ method, header, query }: MountHead): Operation => {
    checkVersion(header('a2a-version'), query);
    if (!GET.includes(method)) throw methodNotAllowed(method, GET.join(', '));
    return { route: CARD_PATH, handle: (request) => parts.cards.discover(request) };
  };

  return [
    mount(CARD_PATH, discover, described.discovery),
    mount(`${INTERFACE_PATH}/*`, find, described.operations),
  ];
};

const mount = (path: string, find: (head: MountHead) => Operation, about: readonly Described[]): Mount => ({
  path,
  scope: 'agent-invocation',
  find: (head) => orRefusal(path, () => find(head)),
  errors: (header) => errorsFor(header('accept')),
  described: about,
});

/** What is wrong with the head of a request is said when its scope is known. */
const orRefusal = (route: string, find: () => Operation): Operation => {
  try {
    return find();
  } catch (error) {
    return {
      route,
      handle() {
        throw error;
      },
    };
  }
};

type Handled = Parameters<Operation['handle']>[0];

const requestOf = (
  { scope, header, hold }: Handled,
  { tenant, body, query }: { tenant: string | undefined; body: unknown; query: string },
): A2aRequest => {
  let values: Record<string, string> | undefined;
  return {
    scope,
    tenant,
    body,
    header,
    hold,
    query(name) {
      values ??= parseQuery(query);
      return values[name];
    },
  };
};

const shaped = (answer: A2aAnswer, accept: string | undefined): unknown =>
  answer instanceof Promise ? answer.then((value) => answered(value, accept)) : answered(answer, accept);
