import { z } from 'zod';
import type { Place } from './place.ts';

/** The stored data of a service, as its public routes return it. */

export type Answers = Record<string, unknown>;

const PATHS = [
  '/v1/threads',
  '/v1/runs',
  '/v1/threads/executes/mailbox',
  '/v1/config/providers',
  '/v1/config/models/own',
  '/v1/config/agents/short',
  '/v1/config/agents/short/meta',
  '/v1/config/agents/echo',
  '/v1/config/agents/echo/meta',
  '/v1/audit-log',
  '/v1/eval/datasets/greetings',
  '/v1/traces',
];

export const ThreadIds = z.object({ items: z.array(z.string()) });

const PARTS = ['messages', 'runs', 'events'];

/** Paths that are derived from the items of the lists. */
const FOLLOWED: readonly (readonly [list: string, path: (id: string) => string, id: RegExp])[] = [
  ['/v1/eval/runs', (id) => `/v1/eval/runs/${id}`, /"id":"([0-9A-Z]{26})"/g],
  ['/v1/threads/waits/runs', (id) => `/v1/a2a/tasks/${id}/pushNotificationConfigs`, /"run_id":"([^"]+)"/g],
  ['/v1/threads/talk/runs', (id) => `/v1/traces/${id}`, /"run_id":"([^"]+)"/g],
];

export const readAll = async ({ admin }: Place): Promise<Answers> => {
  const answers: Answers = {};
  const read = async (path: string): Promise<unknown> => {
    const { status, body } = await admin('GET', path);
    if (status !== 200) throw new Error(`GET ${path}: ${status} ${JSON.stringify(body)}`);
    answers[path] = body;
    return body;
  };
  for (const path of PATHS) await read(path);
  for (const id of ThreadIds.parse(answers['/v1/threads']).items)
    for (const part of PARTS) await read(`/v1/threads/${id}/${part}`);
  for (const [list, path, id] of FOLLOWED) {
    const found = new Set(Array.from(JSON.stringify(await read(list)).matchAll(id), ([, each = '']) => each));
    for (const each of found) await read(path(each));
  }
  return answers;
};
