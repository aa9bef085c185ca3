import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { openStore } from '../../src/store/index.ts';
import { MAIN } from '../e2e/built.ts';

/**
 * Kills a real service with SIGKILL in the middle of its work, starts it again on the same folder, and checks
 * from outside that nothing accepted is lost and nothing is there twice. CRASH_ROUNDS sets how often (20).
 */

const ROUNDS = Number(process.env.CRASH_ROUNDS ?? 20);
const SEED = Number(process.env.CRASH_SEED ?? Date.now() % 1_000_000);
const THREADS = 6;

type Service = { url: string; child: ChildProcess };

const startService = async (dir: string): Promise<Service> => {
  const child = spawn(
    process.execPath,
    [MAIN, 'serve', '--http-addr', '127.0.0.1:0', '--storage-dir', dir, '--seed-profile', 'demo'],
    {
      env: {
        ...process.env,
        // The hooks of the test runner are not for the service.
        NODE_OPTIONS: '',
        SERVICE_ADMIN_API_BEARER_TOKEN: 'x',
        // Every kill costs the runs of that moment an attempt; none of them may run out of attempts here.
        SERVICE_MAILBOX_MAX_ATTEMPTS: '100000',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const { stdout } = child;
  if (!stdout) throw new Error('the service has no output');
  let said = '';
  for await (const chunk of stdout) {
    said += chunk;
    const url = /listens on (\S+)/.exec(said)?.[1];
    if (url !== undefined) return { url, child };
  }
  throw new Error(`the service did not start: ${said}`);
};

const getJson = async (url: string): Promise<Record<string, unknown>> => {
  const body: unknown = await (await fetch(url)).json();
  if (typeof body !== 'object' || body === null) throw new Error(`${url} gave no object`);
  return { ...body };
};

/** Inputs whose acceptance the client has seen: the head of the response leaves after the commit. */
type Accepted = { thread: string; text: string };

const agents = ['default', 'bench-paced', 'bench', 'a2a'];
const words = ['hello', 'RUN_WEATHER_TOOL', 'RUN_STOCK_TOOL', 'again'];

/** Makes each input different. */
let said = 0;

/** One client on one thread: starts a run, reads a part of it or all, starts the next. Ends when the service dies. */
const chat = async (
  url: string,
  thread: string,
  random: () => number,
  accepted: Accepted[],
): Promise<void> => {
  for (;;) {
    said += 1;
    const text = `${words[Math.floor(random() * words.length)]} (${said})`;
    const agentId = agents[Math.floor(random() * agents.length)];
    try {
      const response = await fetch(`${url}/v1/runs`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ agentId, threadId: thread, messages: [{ role: 'user', content: text }] }),
      });
      if (response.status === 200) accepted.push({ thread, text });
      if (random() < 0.3) await response.body?.cancel();
      else await response.text();
    } catch {
      return;
    }
  }
};

const settled = async (url: string): Promise<void> => {
  for (let attempt = 0; attempt < 3000; attempt += 1) {
    const open = await Promise.all(
      ['created', 'running'].map((status) => getJson(`${url}/v1/runs?status=${status}`)),
    );
    if (open.every(({ total }) => total === 0)) return;
    await pause(10);
  }
  throw new Error('runs keep running after the restart');
};

type Listed = { id: string; role: string; seq: number; content: { text?: string }[] };

const history = async (url: string, thread: string): Promise<Listed[]> => {
  const messages: Listed[] = [];
  for (let after = 0; ; ) {
    const page = await getJson(
      `${url}/v1/threads/${thread}/messages?limit=200&visibility=all&after=${after}`,
    );
    const rows = page.messages as Listed[];
    messages.push(...rows);
    const last = rows.at(-1);
    if (!page.has_more || !last) return messages;
    after = last.seq;
  }
};

const checkThread = async (
  t: Test,
  url: string,
  thread: string,
  accepted: readonly Accepted[],
): Promise<void> => {
  const messages = await history(url, thread);
  t.strictSame(
    messages.map(({ seq }) => seq),
    messages.map((_, index) => index + 1),
    `${thread}: sequence numbers have no gap`,
  );
  t.equal(new Set(messages.map(({ id }) => id)).size, messages.length, `${thread}: message ids are unique`);
  const texts = messages.filter(({ role }) => role === 'user').map(({ content }) => content[0]?.text);
  for (const { text } of accepted.filter((each) => each.thread === thread)) {
    const times = texts.filter((each) => each === text).length;
    if (times !== 1) t.fail(`${thread}: accepted input is in history ${times} times: ${text}`);
  }
  const record = await getJson(`${url}/v1/threads/${thread}`);
  t.notOk('active_run_id' in record || 'open_run_id' in record, `${thread}: no run is open`);
};

const TERMINAL = new Set(['RunFinished', 'RunCancelled', 'RunErrored', 'RunTerminated']);

/** Reads the folder itself, after the service has stopped. */
const checkLog = async (t: Test, dir: string, threads: readonly string[]): Promise<void> => {
  const store = await openStore({ dir, durability: 'process' });
  for (const thread_id of threads) {
    const { rows } = store.events.list('default', { thread_id }, 0, 1_000_000);
    const ended = rows.filter(({ event }) => TERMINAL.has(event.event_kind)).map(({ event }) => event.run_id);
    const begun = rows
      .filter(({ event }) => event.event_kind === 'RunStarted')
      .map(({ event }) => event.run_id);
    t.strictSame(new Set(ended), new Set(begun), `${thread_id}: every run that began has a terminal event`);
    t.equal(new Set(ended).size, ended.length, `${thread_id}: no run has two terminal events`);
    const committed = rows.filter(({ event }) => event.event_kind === 'MessageCommitted');
    const seqs = committed.map(({ event }) => event.payload.message_seq);
    t.strictSame(
      seqs,
      seqs.map((_, index) => index + 1),
      `${thread_id}: each message is committed once, in order`,
    );
    for (const run_id of begun) {
      t.equal(store.runs.get('default', String(run_id))?.status, 'done');
    }
  }
  await store.close();
};

t.setTimeout(ROUNDS * 30_000);

t.test(`nothing accepted is lost over ${ROUNDS} kills (seed ${SEED})`, async (t) => {
  const dir = join(t.testdir(), 'data');
  const numbers = fc.infiniteStream(fc.noBias(fc.integer({ min: 0, max: 2 ** 30 - 1 })));
  const [generator] = fc.sample(numbers, { numRuns: 1, seed: SEED });
  const random = (): number => (generator?.next().value ?? 0) / 2 ** 30;
  const accepted: Accepted[] = [];
  const threads = Array.from({ length: THREADS }, (_, index) => `thread-${index}`);

  for (let round = 0; round < ROUNDS; round += 1) {
    const service = await startService(dir);
    const chats = threads.map((thread) => chat(service.url, `${thread}`, random, accepted));
    await pause(random() * 250);
    service.child.kill('SIGKILL');
    await once(service.child, 'exit');
    await Promise.all(chats);
  }

  const service = await startService(dir);
  await settled(service.url);
  t.ok(accepted.length > ROUNDS, `${accepted.length} inputs were accepted`);
  const used = threads.filter((thread) => accepted.some((each) => each.thread === thread));
  for (const thread of used) await checkThread(t, service.url, thread, accepted);
  service.child.kill('SIGTERM');
  await once(service.child, 'exit');
  await checkLog(t, dir, used);
});
