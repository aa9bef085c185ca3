import { setTimeout as pause } from 'node:timers/promises';
import { RunList } from '../../src/schema/run.ts';
import type { Call } from '../protocols/a2a/webhook.ts';
import type { Broken } from './broken.ts';
import { checkConfigs, checkDeletions, checkMetadata, untold } from './check-kept.ts';
import { checkCounters, checkCursor, checkDecisions, checkStreams, checkTail } from './check-runs.ts';
import { checkInputs, checkThread } from './check-threads.ts';
import type { Client } from './client.ts';
import { checkEvals } from './evaluate.ts';
import { acknowledgedIn, type Ledger } from './ledger.ts';
import { ADMIN, type Service } from './process.ts';
import { readThread, runsOf, type ThreadRecord } from './records.ts';
import type { Tail } from './tail.ts';

/** Waits until the service is idle, then reads all its data and compares it with the responses to clients. */

/** Far longer than any wait of the service: leases are 30 s. */
const SETTLE_MS = 90_000;

/** Webhooks are retried after 1, 2, 4 and 8 s. */
const PUSH_MS = 30_000;

const READERS = 8;

/** Waits until nothing is queued or executing; the checks report remaining work. */
export const settle = async (client: Client, deadline = performance.now() + SETTLE_MS): Promise<number> => {
  const from = performance.now();
  for (let quiet = 0; quiet < 3 && performance.now() < deadline; await pause(50)) {
    // Rows instead of totals, because a counter may be wrong.
    const pages = ['created', 'running'].map((status) =>
      client.read(`/v1/runs?limit=1&status=${status}`, RunList),
    );
    const open = (await Promise.all(pages)).flatMap(({ items }) => items);
    quiet = open.length === 0 ? quiet + 1 : 0;
  }
  return Math.round(performance.now() - from);
};

/** Reads a thread again if its last work has just been queued. */
const readSettled = async (client: Client, id: string): Promise<ThreadRecord> => {
  for (let attempt = 0; ; attempt += 1) {
    const record = await readThread(client, id);
    if (attempt === 20 || record.dispatches.every(({ status }) => status !== 'Queued')) return record;
    await pause(100);
  }
};

const readThreads = async (client: Client, ids: Iterable<string>): Promise<Map<string, ThreadRecord>> => {
  const records = new Map<string, ThreadRecord>();
  const left = [...ids];
  const reader = async (): Promise<void> => {
    for (let id = left.pop(); id !== undefined; id = left.pop())
      records.set(id, await readSettled(client, id));
  };
  await Promise.all(Array.from({ length: READERS }, reader));
  return records;
};

const RECENT = 15;

/** Checks right after a start, during recovery and requests, that the latest acknowledged data exists. */
export const checkRecent = async (broken: Broken, client: Client, ledger: Ledger): Promise<void> => {
  const expect = async (path: string, status: number): Promise<void> => {
    const answer = await client.ask('GET', path);
    // Under load the service may respond that it is busy.
    const isOther = answer !== undefined && answer.status !== status && answer.status !== 503;
    if (isOther) broken.note('lost', `GET ${path} right after a start: ${answer.status}, not ${status}`);
  };
  const recent = acknowledgedIn(ledger).slice(-RECENT);
  const deleted = [...ledger.deleted].slice(-RECENT);
  await Promise.all([
    ...recent.map(({ run_id }) => run_id !== undefined && expect(`/v1/runs/${run_id}`, 200)),
    ...recent.map(({ thread }) => thread !== undefined && expect(`/v1/threads/${thread}`, 200)),
    ...deleted.map((id) => expect(`/v1/threads/${id}`, 404)),
  ]);
};

export type Check = {
  service: Service;
  client: Client;
  ledger: Ledger;
  broken: Broken;
  hooked: readonly Call[];
  threads: readonly string[];
  tails: readonly Tail[];
  /** Includes what earlier checks have covered. */
  all: boolean;
};

/** Returns the number of runs. */
export const checkAll = async (check: Check): Promise<number> => {
  const { service, client, ledger, broken, tails, all } = check;
  const runs = await runsOf(client);
  const own = new Set(check.threads);
  // Threads of sub-agents are found through their runs only.
  const others = runs.filter(({ thread_id }) => !/^[hw]\d/.test(thread_id)).map(({ thread_id }) => thread_id);
  const records = await readThreads(client, new Set([...own, ...(all ? others : [])]));
  const crashes = service.crashes();
  for (const record of records.values()) checkThread(broken, record, crashes);
  for (const record of [...records.values()].slice(0, 10)) await checkCursor(broken, client, record);
  checkInputs(broken, ledger, records, all);
  checkStreams(broken, ledger.ends, new Map(runs.map((run) => [run.run_id, run])));
  checkDecisions(broken, ledger, records, service.executed());
  for (const tail of tails) {
    const record = records.get(tail.thread);
    if (record) await untilSeen(tail, record);
    if (record) checkTail(broken, tail, record);
  }
  checkMetadata(broken, ledger, records);
  await checkDeletions(broken, client, ledger);
  await checkConfigs(broken, client, ledger);
  await checkCounters(broken, client, true);
  await checkPushes(check);
  await checkEvals(broken, client, ledger);
  for (const oddity of ledger.oddities) broken.note('answer', oddity);
  if ('running' in broken.counts()) await noteAtWork(client, broken);
  return runs.length;
};

/** Records what the service is still executing although it should be idle, to help find the cause. */
const noteAtWork = async (client: Client, broken: Broken): Promise<void> => {
  for (const machine of ['run', 'thread']) {
    const answer = await client.ask('GET', `/v1/system/actors?machine=${machine}&limit=20`, undefined, ADMIN);
    broken.note('running', `${machine} actors: ${answer?.text.slice(0, MOST_TOLD)}`);
  }
};

const MOST_TOLD = 4000;

/** Gives a follower time to read the log. */
const untilSeen = async ({ seen }: Tail, { events }: ThreadRecord): Promise<void> => {
  const deadline = performance.now() + PUSH_MS;
  const last = events.at(-1)?.event_id;
  while (seen.length > 0 && seen.at(-1) !== last && performance.now() < deadline) await pause(20);
};

const checkPushes = async ({ client, ledger, broken, hooked }: Check): Promise<void> => {
  const deadline = performance.now() + PUSH_MS;
  let missing = await untold(client, ledger.tasks, hooked);
  while (missing.length > 0 && performance.now() < deadline) {
    await pause(250);
    missing = await untold(client, ledger.tasks, hooked);
  }
  for (const text of missing) broken.note('push', text);
};
