import { startApp } from '../../src/app.ts';
import { createLog } from '../../src/observability/log.ts';
import { findPositions } from '../../src/protocols/openai/chat-position.ts';
import type { ImportedMessage } from '../../src/runtime/index.ts';
import { settingsFrom } from '../../src/settings/index.ts';
import { openStore } from '../../src/store/index.ts';
import { countWrites, type WriteCounter, type WrittenRow } from '../../test/store/count-writes.ts';
import type { Context } from '../benchmark.ts';
import { median } from '../rounds.ts';
import type { Aim, Measured } from '../row.ts';

/** Writes of a run, and the position of a request, in this process. */

const atMost = (most: number): Aim => ({ of: 'value', most });

const row = (metric: string, unit: string, value: number, aim: Aim): Measured => ({
  metric,
  unit,
  aim,
  rounds: [{ value }],
});

const messages = [{ role: 'user', content: 'Go.' }];
const CHAT = { model: 'bench', stream: true, messages };

/** Runs of each kind: the commits of one may be parts of one transaction or of several. */
const RUNS = 20;

export const measureWrites = async ({ short, folder }: Context): Promise<Measured[]> => {
  const counter = countWrites();
  const app = await startApp({
    settings: settingsFrom({
      storage_dir: folder(),
      durability: 'process',
      shutdown_timeout_ms: 0,
      seed: { profile: 'demo' },
    }),
    log: createLog({ level: 'silent' }),
    listen: false,
  });
  const send = async (path: string, body: object, headers: Record<string, string> = {}): Promise<void> => {
    const request = new Request(`http://localhost${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    await (await app.fetch(request)).text();
  };
  let chats = 0;
  const inChat = (): Promise<void> => {
    chats += 1;
    return send('/v1/chat/completions', CHAT, { 'x-conversation-id': `chat-${chats}` });
  };
  const runs = short ? 1 : RUNS;
  try {
    const native = await writesOf(counter, runs, () => send('/v1/runs', { agentId: 'bench', messages }));
    const more = async (metric: string, most: number, run: () => Promise<void>): Promise<Measured> =>
      row(
        `rows that ${metric} writes, more than a native run`,
        'rows',
        (await writesOf(counter, runs, run)) - native,
        atMost(most),
      );
    return [
      await more('a chat completion', 0, () => send('/v1/chat/completions', CHAT)),
      await more('a chat completion with the id of a chat', 1, inChat),
      await more('a response', 1, () =>
        send('/v1/responses', { model: 'bench', stream: true, input: 'Go.' }),
      ),
    ];
  } finally {
    await app.stop();
    counter.stop();
  }
};

/** A row of the list of a resource: a native run in a thread with a resource writes it too. */
const isOfResource = ({ table, key }: WrittenRow): boolean => {
  const [, list]: unknown[] = JSON.parse(key);
  return (table === 'thread_index' || table === 'counters') && list === 'of';
};

/** Returns the number of rows that one run writes. */
const writesOf = async (counter: WriteCounter, runs: number, run: () => Promise<void>): Promise<number> => {
  await run();
  const counts: number[] = [];
  for (let done = 0; done < runs; done += 1) {
    counter.take();
    await run();
    const rows = counter.take().filter((row) => !isOfResource(row));
    counts.push(new Set(rows.map(({ table, key }) => `${table} ${key}`)).size);
  }
  return median(counts);
};

const MESSAGES = 1000;
const TEXT = 'It is seven degrees in Oslo, with some rain in the afternoon. '.repeat(6);

/** A request whose last eight answers are unknown in a chat that has answers. */
export const measurePosition = async ({ short, folder }: Context): Promise<Measured> => {
  const store = await openStore({ dir: folder(), durability: 'process' });
  const place = { scope: 'default', chat: 'chat', agent_id: 'bench' };
  const batch = store.batch('commons');
  for (let seq = 0; seq < MESSAGES; seq += 1) {
    const digest = seq.toString(16).padStart(32, '0');
    store.transcripts.put(batch, { ...place, digest }, { thread_id: 'thread', seq, asked: '', at: seq });
  }
  await store.commit(batch);
  const request = Array.from(
    { length: MESSAGES },
    (_, index): ImportedMessage => ({
      role: index % 2 === 0 ? 'user' : 'assistant',
      content: [{ type: 'text', text: `${index} ${TEXT}` }],
    }),
  );
  const answers = { transcripts: store.transcripts, isThere: () => true, turn: () => undefined };
  const costs: number[] = [];
  const calls = short ? 1 : 40;
  for (let round = 0; round < (short ? 1 : 9); round += 1) {
    const before = process.cpuUsage();
    for (let done = 0; done < calls; done += 1) {
      // Digests are computed once for each list of messages.
      Array.from(findPositions(answers, place, [...request]));
    }
    const { user, system } = process.cpuUsage(before);
    costs.push((user + system) / calls / 1000);
  }
  await store.close();
  return row(
    `the position of a request with ${MESSAGES.toLocaleString('en')} messages, 8 lookups`,
    'ms of CPU',
    median(costs),
    atMost(3),
  );
};
