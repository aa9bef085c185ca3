import { z } from 'zod';
import { changed, keep } from './ledger.ts';
import { ADMIN } from './process.ts';
import { pick } from './random.ts';
import { judged, type Operation } from './world.ts';

/**
 * Values that are written repeatedly: titles, custom metadata, configuration. Each value has a single writing client,
 * so that the expected value is known.
 */

let version = 0;

export const patch: Operation = async (world, me) => {
  const { client, ledger, random, threads } = world;
  const thread = threads[me % threads.length];
  // With two writers per thread, the last title would be unknown.
  if (thread === undefined || me >= threads.length) return;
  version += 1;
  const title = `title ${version}`;
  const custom = `key${version}`;
  const path = `/v1/threads/${thread}${random() < 0.5 ? '' : '/metadata'}`;
  const answer = await client.ask('PATCH', path, { title, custom: { [custom]: version } });
  const outcome = judged(world, 'patch', answer);
  changed(keep(ledger.titles, thread), title, outcome);
  const customs = ledger.customs.get(thread) ?? new Set();
  ledger.customs.set(thread, customs);
  if (outcome === 'acknowledged') customs.add(custom);
};

const idOf = (me: number): string => `written-${me}`;

export const putConfig: Operation = async (world, me) => {
  const { client, ledger } = world;
  version += 1;
  const system_prompt = `version ${version}`;
  const spec = { id: idOf(me), model_id: 'planned', system_prompt };
  const answer = await client.ask('PUT', `/v1/config/agents/${idOf(me)}`, spec, ADMIN);
  changed(keep(ledger.configs, idOf(me)), system_prompt, judged(world, 'config', answer));
};

export const AuditLog = z.object({
  items: z.array(z.object({ id: z.string(), after: z.object({ system_prompt: z.string() }).optional() })),
});

export const auditOf = (id: string): string => `/v1/audit-log?resource=agents/${id}&limit=1000`;

/** Restores an earlier version. */
export const restoreConfig: Operation = async (world, me) => {
  const { client, ledger, random } = world;
  const id = idOf(me);
  if (!ledger.configs.has(id)) return;
  const log = await client.ask('GET', auditOf(id), undefined, ADMIN);
  if (log?.status !== 200) return;
  const events = AuditLog.parse(log.body).items.filter(({ after }) => after !== undefined);
  if (events.length === 0) return;
  const event = pick(random, events);
  const answer = await client.ask('POST', `/v1/config/agents/${id}/restore`, { version: event.id }, ADMIN);
  const outcome = judged(world, 'restore', answer);
  changed(keep(ledger.configs, id), event.after?.system_prompt ?? '', outcome);
};
