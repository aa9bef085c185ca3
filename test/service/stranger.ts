import { type CountedWork, differencesOf, leastOf, type Work } from './counted-work.ts';
import type { User, Users } from './users.ts';

/** Requests with an id of another user, their answers, and their work. */

export type Operation = { method: string; path: string; body: unknown };

/** Ids in paths and bodies; `{}` stands for the id that a request asks for. */
const PARAMS: Readonly<Record<string, string>> = {
  id: '{}',
  thread_id: '{}',
  task_id: '{}',
  filter: '{}',
  config_id: 'hook',
  message_id: 'm1',
  tenant: 'echo',
  step_index: '0',
  item_id: 'msg_s00000001',
};

export const BODIES: Readonly<Record<string, unknown>> = {
  decision: { toolCallId: 'c1', action: 'resume', payload: { approved: true }, digest: 'x' },
  messages: { agent_id: 'echo', messages: [{ role: 'user', content: 'Hi' }] },
  inputs: { messages: [{ role: 'user', content: 'Hi' }] },
  mailbox: { payload: { text: 'Hi' } },
  metadata: { title: 'mine' },
  pushNotificationConfigs: { url: 'https://hooks.example/x', id: 'hook' },
};

/** Operations on a thread or what a thread contains. */
export const OF_THREADS = /\{(thread_id|task_id)\}|\/v1\/(threads|runs)\/\{id\}/;
export const OF_OTHERS = new RegExp(`${OF_THREADS.source}|/v1/(files|responses|conversations)/\\{id\\}`);

export const operationsOf = async (service: Users, paths: RegExp): Promise<Operation[]> => {
  const { body } = await service.call('GET', '/openapi.json');
  return Object.entries(body.paths as Record<string, Record<string, unknown>>)
    .filter(([path]) => paths.test(path) && !/inferences/.test(path))
    .flatMap(([path, methods]) =>
      ['get', 'post', 'put', 'patch', 'delete']
        .filter((method) => method in methods)
        .map((method) => ({ method: method.toUpperCase(), path, body: bodyFor(method, path) })),
    );
};

const bodyFor = (method: string, path: string): unknown => {
  if (method === 'get' || method === 'delete') return undefined;
  if (method === 'patch') return { title: 'mine' };
  if (path.includes('/ai-sdk/') && path.endsWith('/runs'))
    return { agentId: 'echo', messages: [{ id: 'u9', role: 'user', parts: [{ type: 'text', text: 'Hi' }] }] };
  if (path.includes('/ag-ui/') && path.endsWith('/runs'))
    return { runId: 'r9', agentId: 'echo', messages: [{ id: 'u9', role: 'user', content: 'Hi' }] };
  const last = path.split(/[/:]/).at(-1) ?? '';
  return BODIES[last] ?? {};
};

/** The status and the text of an answer; of a stream that does not end, its first piece. */
export const answerTo = async (
  service: Users,
  user: User,
  { method, path, body }: Operation,
  id: string,
): Promise<string> => {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_found, name: string) =>
    (PARAMS[name] ?? '').replace('{}', id),
  );
  const controller = new AbortController();
  const response = await fetch(service.url + filled, {
    method,
    headers: {
      ...user.head,
      'a2a-version': '1.0',
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: controller.signal,
  });
  const endless = /\/events\/stream$|:subscribe$/.test(path);
  const text = endless && response.ok ? await firstPiece(response) : await response.text();
  controller.abort();
  return `${response.status} ${text.replaceAll(id, '<id>')}`;
};

const firstPiece = async (response: Response): Promise<string> => {
  const reader = response.body?.getReader();
  const { value } = (await reader?.read()) ?? {};
  return new TextDecoder().decode(value);
};

/** Ids and times that the service makes differ from answer to answer. */
export const plain = (text: string): string =>
  text
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<made>')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replaceAll(/("duration\w*":)\d+/g, '$1<number>')
    .replaceAll(/\b\d{9,}\b/g, '<number>');

export type Walk = { service: Users; work: CountedWork };

/** A question with an id of another user, and the same one with an id that was never used. */
export type Pair = { operation: Operation; hidden: string; unused: string; by: string };

let strangers = 0;

/** Writes make things of the stranger under these ids, so each request has a separate stranger. */
export const askAsStranger = ({ service }: Walk, { operation, by }: Pair, id: string): Promise<string> => {
  strangers += 1;
  return answerTo(service, service.user(`${by}-${strangers}`), operation, id);
};

const workOf = async (walk: Walk, pair: Pair, id: string): Promise<Work> => {
  await askAsStranger(walk, pair, id);
  return walk.work.take();
};

const MOST_ROUNDS = 20;

/** A run that a write has started continues after the response. */
export const isMeasured = ({ method }: Operation, answer: string): boolean =>
  method === 'GET' || !answer.startsWith('2');

/** A file is found by its id alone, and judged then; that takes no read of the store. */
const isCompared = (difference: string, { path }: Operation): boolean =>
  !path.startsWith('/v1/files') || difference.startsWith('countRead');

/** Returns the functions that are not called equally often for an id of another user and for an unused one. */
export const differencesIn = async (walk: Walk, pair: Pair): Promise<string[]> => {
  let [hidden, unused]: (Work | undefined)[] = [];
  let differences: string[] = [];
  await walk.work.take();
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const works = [await workOf(walk, pair, pair.hidden), await workOf(walk, pair, pair.unused)] as const;
    hidden = leastOf(hidden, works[0]);
    unused = leastOf(unused, works[1]);
    differences = differencesOf(hidden, unused).filter((each) => isCompared(each, pair.operation));
    if (differences.length === 0) break;
  }
  return differences;
};

export const unusedFor = (id: string): string =>
  id === 'hers' ? 'none' : id.replace(/^(file-|resp_|conv_)?[^_-]{4}/, '$1ffff');
