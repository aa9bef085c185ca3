import { type Batch, openStore } from '../../src/store/index.ts';
import { type GrownThread, putStep, putThread } from './grown-thread.ts';

/** `growth-store DIR`: fills a store with threads of given lengths, and adds steps to them on request. */

export type GrowthOrder =
  | { do: 'fill'; threads: number; messages: number; status: 'running' | 'done' }
  /** A step in each of `threads` threads of that length, in one commit; the threads take turns. */
  | { do: 'step'; threads: number; messages: number }
  /** Traces of this number of runs, with this number of events each. */
  | { do: 'traces'; traces: number; events: number }
  | { do: 'close' };

/** Duration of the order. */
export type GrowthAnswer = { milliseconds: number };

/** Commit size while filling. */
const WRITES_A_COMMIT = 5000;

const store = await openStore({ dir: process.argv[2] ?? '', durability: 'process' });
/** Threads by their initial length, in the order of their next turn. */
const grown = new Map<number, GrownThread[]>();

const commitFull = async (batch: Batch): Promise<Batch> => {
  if (batch.writes.length < WRITES_A_COMMIT) return batch;
  await store.commit(batch);
  return store.batch('commons');
};

const fill = async ({ threads, messages, status }: Extract<GrowthOrder, { do: 'fill' }>): Promise<void> => {
  let batch = store.batch('commons');
  const filled: GrownThread[] = [];
  for (let number = 0; number < threads; number += 1) {
    const state = status === 'done' ? 'completed' : 'running.inferring';
    let thread = putThread(store, batch, `t${messages}-${number}`, state);
    while (thread.seq < messages) {
      thread = putStep(store, batch, thread);
      batch = await commitFull(batch);
    }
    filled.push(thread);
    batch = await commitFull(batch);
  }
  await store.commit(batch);
  grown.set(messages, filled);
};

const step = async ({ threads, messages }: Extract<GrowthOrder, { do: 'step' }>): Promise<void> => {
  const waiting = grown.get(messages) ?? [];
  const batch = store.batch('commons');
  const stepped = waiting.splice(0, threads).map((thread) => putStep(store, batch, thread));
  await store.commit(batch);
  waiting.push(...stepped);
};

const EVENT = JSON.stringify({ type: 'inference', model: 'm', response_content: 'x'.repeat(500) });

const fillTraces = async ({ traces, events }: Extract<GrowthOrder, { do: 'traces' }>): Promise<void> => {
  let batch = store.batch('commons');
  const lines = Array.from({ length: events }, () => EVENT);
  for (let number = 0; number < traces; number += 1) {
    const at = 1_700_000_000 + number;
    const summary = {
      run_id: `r${number}`,
      agent_id: `agent-${number % 10}`,
      started_at: at,
      ended_at: at,
      prompt_ids: ['0123456789ab'],
      final_status: 'ok' as const,
    };
    store.traces.write(
      batch,
      { total: events, state: 'done', summary, created_at: at, written_at: at },
      lines,
    );
    batch = await commitFull(batch);
  }
  await store.commit(batch);
};

const carryOut = async (order: GrowthOrder): Promise<GrowthAnswer> => {
  const began = performance.now();
  if (order.do === 'fill') await fill(order);
  else if (order.do === 'step') await step(order);
  else if (order.do === 'traces') await fillTraces(order);
  else await store.close();
  return { milliseconds: performance.now() - began };
};

process.on('message', async (order: GrowthOrder) => {
  process.send?.(await carryOut(order));
});
process.on('disconnect', () => process.exit());
