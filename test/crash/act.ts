import type { z } from 'zod';
import { ActiveRun, RunList } from '../../src/schema/run.ts';
import { textIn } from './client.ts';
import { below, pick } from './random.ts';
import { judged, type Operation, type World } from './world.ts';

/** Cancels, interrupts, decisions and reads. An interrupted read is not a failure. */

const peek = async <Shape extends z.ZodType>(
  { client }: World,
  path: string,
  shape: Shape,
): Promise<z.output<Shape> | undefined> => {
  const answer = await client.ask('GET', path);
  return answer?.status === 200 ? shape.parse(answer.body) : undefined;
};

export const cancelThread: Operation = async (world) => {
  const thread = pick(world.random, world.threads);
  judged(world, 'cancel', await world.client.ask('POST', `/v1/threads/${thread}/cancel`));
};

export const cancelRun: Operation = async (world) => {
  const run_id = world.ledger.inputs
    .slice(-40)
    .find(
      ({ run_id: id, thread }) => id !== undefined && thread !== undefined && world.threads.includes(thread),
    )?.run_id;
  if (run_id === undefined) return;
  judged(world, 'cancel run', await world.client.ask('POST', `/v1/runs/${run_id}/cancel`));
};

export const interrupt: Operation = async (world) => {
  const thread = pick(world.random, world.threads);
  judged(world, 'interrupt', await world.client.ask('POST', `/v1/threads/${thread}/interrupt`));
};

/** Decides an open call of a suspended run by its thread or its run. */
export const decide: Operation = async (world) => {
  const { random, client, ledger } = world;
  const thread = pick(random, random() < 0.7 ? world.heldThreads : world.threads);
  const active = await peek(world, `/v1/threads/${thread}/runs/active`, ActiveRun);
  const tickets = active?.active_run?.waiting?.tickets ?? [];
  if (!active?.active_run || tickets.length === 0) return;
  const { run_id } = active.active_run;
  const ticket = pick(random, tickets);
  const { tool_call_id, ticket_id, tickets: below } = ticket;
  const action = random() < 0.75 ? 'resume' : 'cancel';
  const path = random() < 0.5 ? `/v1/runs/${run_id}/decision` : `/v1/threads/${thread}/decision`;
  const toolCallId = random() < 0.5 ? tool_call_id : ticket_id;
  const isPermission = below !== undefined || ticket.resume_mode === 'replay_tool_call';
  const payload = isPermission ? { approved: action === 'resume' } : { color: 'blue' };
  const answer = await client.ask('POST', path, { toolCallId, action, payload, digest: ticket.digest });
  const outcome = judged(world, 'decision', answer);
  ledger.decisions.push({ thread, run_id, call: tool_call_id, action, outcome });
};

const LISTS = [
  '/v1/threads?limit=20',
  '/v1/threads/summaries?limit=20',
  '/v1/runs?limit=20&status=running',
  '/v1/runs?limit=20',
  '/health',
  '/v1/a2a/tasks?pageSize=10',
];

export const list: Operation = async (world) => {
  const path = pick(world.random, LISTS);
  judged(world, `GET ${path}`, await world.client.ask('GET', path));
};

/** Checks that a page of runs is consistent. */
export const page: Operation = async (world) => {
  const offset = below(world.random, 50);
  const runs = await peek(world, `/v1/runs?limit=50&offset=${offset}`, RunList);
  if (!runs) return;
  const more = offset + runs.items.length < runs.total;
  if (runs.has_more !== more)
    world.ledger.oddities.push(`runs: has_more ${runs.has_more} at ${offset} of ${runs.total}`);
};

/** Creates a thread, keeps it busy in some cases, and deletes it. */
export const createAndDelete: Operation = async (world) => {
  const { client, ledger, random } = world;
  const made = await client.ask('POST', '/v1/threads', { title: 'short-lived' });
  const id = textIn(made?.body, 'id');
  if (judged(world, 'create', made) !== 'acknowledged' || id === undefined) return;
  ledger.created.add(id);
  if (random() < 0.6) {
    const text = '[doomed] talk 100';
    judged(world, 'mailbox', await client.ask('POST', `/v1/threads/${id}/mailbox`, { payload: { text } }));
  }
  if (random() < 0.2) return;
  ledger.doomed.add(id);
  const strategy = pick(random, ['detach', 'cascade']);
  const gone = await client.ask('DELETE', `/v1/threads/${id}?child_strategy=${strategy}`);
  if (judged(world, 'delete', gone) === 'acknowledged') ledger.deleted.add(id);
};
