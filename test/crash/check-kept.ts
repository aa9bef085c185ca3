import { z } from 'zod';
import type { Call } from '../protocols/a2a/webhook.ts';
import { stateIn } from '../protocols/a2a/webhook.ts';
import type { Broken } from './broken.ts';
import { type Client, textIn } from './client.ts';
import { AuditLog, auditOf } from './keep.ts';
import type { Ledger } from './ledger.ts';
import { ADMIN } from './process.ts';
import type { ThreadRecord } from './records.ts';

/**
 * Checks that titles, metadata, deletions, configuration and its audit log are as acknowledged, and that webhooks
 * received the final states.
 */

export const checkMetadata = (
  broken: Broken,
  { titles, customs }: Ledger,
  records: ReadonlyMap<string, ThreadRecord>,
): void => {
  for (const [id, { possible, acknowledged }] of titles) {
    const record = records.get(id);
    if (!record || acknowledged === 0) continue;
    const title = record.thread?.metadata.title;
    if (!possible.includes(title))
      broken.note('kept', `${id}: the title is ${title}, not one of ${possible}`);
  }
  for (const [id, keys] of customs) {
    const record = records.get(id);
    if (!record) continue;
    const { custom = {} } = record.thread?.metadata ?? {};
    for (const key of keys)
      if (!Object.hasOwn(custom, key)) broken.note('kept', `${id}: ${key} of its metadata is gone`);
  }
};

export const checkDeletions = async (
  broken: Broken,
  client: Client,
  { created, deleted, doomed }: Ledger,
): Promise<void> => {
  for (const id of created) {
    if (doomed.has(id) && !deleted.has(id)) continue;
    const answer = await client.ask('GET', `/v1/threads/${id}`);
    const expected = deleted.has(id) ? 404 : 200;
    if (answer?.status !== expected)
      broken.note('kept', `${deleted.has(id) ? 'deleted' : 'created'} thread ${id} is ${answer?.status}`);
  }
};

const Meta = z.object({ revision: z.number() });

export const checkConfigs = async (broken: Broken, client: Client, { configs }: Ledger): Promise<void> => {
  for (const [id, { possible, acknowledged, asked }] of configs) {
    if (acknowledged === 0) continue;
    const spec = await client.ask('GET', `/v1/config/agents/${id}`, undefined, ADMIN);
    const found = textIn(spec?.body, 'system_prompt');
    if (!possible.includes(found)) broken.note('kept', `agent ${id} is ${found}, not one of ${possible}`);
    const { revision } = await client.read(`/v1/config/agents/${id}/meta`, Meta);
    const { length } = (await client.read(auditOf(id), AuditLog)).items;
    if (length !== revision || length < acknowledged || length > asked)
      broken.note(
        'kept',
        `agent ${id}: ${length} entries in the audit log, revision ${revision}, ${acknowledged} acknowledged of ${asked}`,
      );
  }
};

const ENDED = ['COMPLETED', 'CANCELED', 'REJECTED', 'FAILED'];

/** The last state that a webhook received. */
const lastTold = (calls: readonly Call[], task: string): string | undefined => {
  const told = calls.filter((call) => textIn(call.body, 'statusUpdate', 'taskId') === task);
  const last = told.at(-1);
  return last && stateIn(last);
};

/** The tasks whose final state the webhook has not received. */
export const untold = async (
  client: Client,
  tasks: Iterable<string>,
  calls: readonly Call[],
): Promise<string[]> => {
  const missing: string[] = [];
  for (const task of tasks) {
    const answer = await client.ask('GET', `/v1/a2a/tasks/${task}`, undefined, ADMIN);
    const state =
      textIn(answer?.body, 'status', 'state')?.replace('TASK_STATE_', '') ?? String(answer?.status);
    const told = lastTold(calls, task);
    // A suspended task has no final state.
    if (ENDED.includes(state) ? told !== state : state === '404')
      missing.push(`task ${task} is ${state}, its webhook was told ${told}`);
  }
  return missing;
};
