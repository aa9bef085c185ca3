import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { Dispatch } from '../../src/schema/dispatch.ts';
import type { Message } from '../../src/schema/message.ts';
import { inState, type RunRecord } from '../../src/schema/run-state.ts';
import { openRoot } from '../../src/store/engine/environment.ts';
import { type Batch, examine, openStore, type Store } from '../../src/store/index.ts';
import { copyKey, storeFor } from './open.ts';
import { dispatch, event, message, run, SCOPE, threadRecord, write } from './records.ts';

/** The final text of a run is stored once, and read from every row that refers to it. */

const ANSWER = 'The fjord is cold in spring, and colder in winter. '.repeat(20);

const said = (text: string, run_id = 'r1'): Message => ({
  ...message('m2', run_id),
  content: [{ type: 'text', text }],
});

const ended = (text: string): RunRecord => {
  const termination_reason = { type: 'natural_end' } as const;
  const outcome = { termination_reason, final_output: text };
  return run('r1', { status: 'done', termination_reason, final_output: text, outcome });
};

const events = (text: string, blocks: Message['content']) => [
  { ...event('e1', 'r1'), payload: { content_blocks: blocks, message_kind: 'assistant_output' } },
  { ...event('e2', 'other'), payload: { text } },
  { ...event('e3', 'r1'), payload: { result: { response: text, status: 'done' } } },
];

type Written = { answer: Message; run: RunRecord; dispatch: Dispatch; events: ReturnType<typeof events> };

const running = run('r1');
const claimed = dispatch('d1', { status: 'Claimed' });

/** The commits of the service when a run is accepted and when it ends; the order of the last rows varies. */
const begin = (store: Store): Promise<void> =>
  write(store, (batch) => {
    store.threads.put(batch, SCOPE, threadRecord('t1', 1), undefined);
    store.messages.append(batch, SCOPE, 't1', [
      { seq: 1, message: message('m1', 'r1'), created_at: 1, external: 1 },
    ]);
    store.runs.put(batch, SCOPE, running, undefined);
    store.dispatches.put(batch, SCOPE, claimed, undefined);
    store.events.append(batch, SCOPE, 't1', 1, [event('e0', 'r1')]);
  });

const ending = (text: string, content: Message['content']): Written => {
  const answer: Message = { ...said(text), content };
  const acked = dispatch('d1', { status: 'Acked', run_response: text, completed_at: 5 });
  return { answer, run: ended(text), dispatch: acked, events: events(text, content) };
};

const putEnd = (store: Store, batch: Batch, end: Written, runFirst = false): void => {
  const steps = [
    () =>
      store.messages.append(batch, SCOPE, 't1', [
        { seq: 2, message: end.answer, created_at: 2, external: 2 },
      ]),
    () => store.dispatches.put(batch, SCOPE, end.dispatch, claimed),
    () => store.runs.put(batch, SCOPE, end.run, running),
  ];
  for (const step of runFirst ? steps.reverse() : steps) step();
  store.events.append(batch, SCOPE, 't1', 2, end.events);
};

const everything = (store: Store) => ({
  at: store.messages.at(SCOPE, 't1', 2)?.message,
  last: store.messages.last(SCOPE, 't1')?.message,
  range: Array.from(store.messages.range(SCOPE, 't1', { from: 2 }), (row) => Object.keys(row).sort().join()),
  ofRun: Array.from(store.messages.ofRun(SCOPE, 't1', 'r1', { from: 2 }), (row) => row.message),
  run: store.runs.get(SCOPE, 'r1'),
  listed: store.runs.list(SCOPE, {}, { offset: 0, limit: 5 }).items[0],
  dispatch: store.dispatches.get(SCOPE, 'd1'),
  mailbox: [...store.dispatches.listByThread(SCOPE, 't1', { offset: 0, limit: 5 })][0],
  events: store.events.list(SCOPE, { thread_id: 't1' }, 1, 9).rows.map((row) => row.event),
  ofTheRun: store.events.list(SCOPE, { run_id: 'r1' }, 1, 9).rows.map((row) => row.event),
});

const expected = ({ answer, run: record, dispatch: acked, events: told }: Written) => ({
  at: answer,
  last: answer,
  range: ['created_at,external,message,seq'],
  ofRun: [answer],
  run: record,
  listed: record,
  dispatch: acked,
  mailbox: acked,
  events: told,
  ofTheRun: told.filter(({ run_id }) => run_id === 'r1'),
});

const ANSWERS: Record<string, [text: string, content: Message['content']]> = {
  'one text': [ANSWER, [{ type: 'text', text: ANSWER }]],
  'several parts': [
    ANSWER,
    [
      { type: 'thinking', thinking: 'Let me see.' },
      { type: 'text', text: ANSWER },
      { type: 'text', text: ANSWER },
    ],
  ],
  'a message that differs by a letter': [ANSWER, [{ type: 'text', text: `${ANSWER}.` }]],
  'parts that make up the answer': [
    ANSWER,
    [
      { type: 'text', text: ANSWER.slice(0, 100) },
      { type: 'text', text: ANSWER.slice(100) },
    ],
  ],
  'an empty text': ['', [{ type: 'text', text: '' }]],
  'a short text': ['Cold.', [{ type: 'text', text: 'Cold.' }]],
};

for (const [name, [text, content]] of Object.entries(ANSWERS)) {
  for (const runFirst of [false, true]) {
    t.test(
      `a final text is read as it was written: ${name}, the run ${runFirst ? 'first' : 'last'}`,
      async (t) => {
        const store = await storeFor(t);
        await begin(store);
        const end = ending(text, content);
        await write(store, (batch) => putEnd(store, batch, end, runFirst));
        t.strictSame(everything(store), expected(end));
        t.equal(
          JSON.stringify(store.runs.get(SCOPE, 'r1')),
          JSON.stringify(end.run),
          'the fields have the same order',
        );
      },
    );
  }
}

const PLAIN = ending(ANSWER, [{ type: 'text', text: ANSWER }]);

const finished = async (t: Test, dir = t.testdir()): Promise<{ store: Store; end: Written }> => {
  const store = await openStore({ dir, durability: 'process' });
  t.teardown(() => store.close());
  await begin(store);
  const end = PLAIN;
  await write(store, (batch) => putEnd(store, batch, end));
  return { store, end };
};

t.test('stores the final text once in the file', async (t) => {
  const dir = t.testdir();
  const { store } = await finished(t, dir);
  await store.close();
  const root = openRoot(dir);
  const copies = ['messages', 'runs', 'dispatches', 'events'].map((name) => {
    const rows = root.openDB(name, { encoding: 'binary' });
    const all = Array.from(rows.getRange(), ({ value }) => Buffer.from(value as Buffer).toString('latin1'));
    return all.join('').split(ANSWER).length - 1;
  });
  await root.close();
  // The event of another run with the same text has its own copy.
  t.strictSame(copies, [0, 1, 0, 1]);
});

t.test('keeps the remaining rows intact when a thread, events or dispatches are deleted', async (t) => {
  const { store, end } = await finished(t);
  await write(store, (batch) => {
    store.threads.remove(batch, SCOPE, threadRecord('t1', 1));
    store.removals.begin(batch, SCOPE, 't1');
  });
  const left = everything(store);
  t.strictSame(left.run, end.run);
  t.strictSame(left.dispatch, end.dispatch);
  t.strictSame(left.events, end.events);
  await write(store, (batch) => store.dispatches.remove(batch, SCOPE, end.dispatch));
  t.equal(store.dispatches.get(SCOPE, 'd1'), undefined);
  t.strictSame(everything(store).run, end.run);
});

t.test('keeps earlier rows intact when a run is rewritten with another final text', async (t) => {
  const { store, end } = await finished(t);
  const other = { ...end.run, final_output: `${ANSWER} Bring a coat, and gloves.` };
  await write(store, (batch) => store.runs.put(batch, SCOPE, other, end.run));
  const reopened = { ...other, ...inState('running.inferring') };
  for (const [after, before] of [
    [other, other],
    [reopened, other],
    [end.run, reopened],
    [other, end.run],
  ] as const) {
    await write(store, (batch) => store.runs.put(batch, SCOPE, after, before));
    t.strictSame(everything(store), { ...expected(end), run: after, listed: after });
  }
});

t.test('reads final texts in a copy of the store and in the next process', async (t) => {
  const dir = t.testdir();
  const { store, end } = await finished(t, join(dir, 'store'));
  await store.backup(join(dir, 'copy'));
  copyKey(join(dir, 'store'), join(dir, 'copy'));
  const copy = await storeFor(t, { dir: join(dir, 'copy') });
  t.strictSame(everything(copy), expected(end));
  await store.close();
  const again = await storeFor(t, { dir: join(dir, 'store') });
  t.strictSame(everything(again), expected(end));
});

t.test('reads a record of an earlier version with its text in place', async (t) => {
  const store = await storeFor(t);
  await begin(store);
  const end = PLAIN;
  // Separate commits: the run is unknown when the other rows are written.
  await write(store, (batch) =>
    store.messages.append(batch, SCOPE, 't1', [{ seq: 2, message: end.answer, created_at: 2, external: 2 }]),
  );
  await write(store, (batch) => store.dispatches.put(batch, SCOPE, end.dispatch, claimed));
  await write(store, (batch) => store.events.append(batch, SCOPE, 't1', 2, end.events));
  await write(store, (batch) => store.runs.put(batch, SCOPE, end.run, running));
  t.strictSame(everything(store), expected(end));
});

t.test('finds rows in the doctor whose run does not hold their final text', async (t) => {
  const dir = t.testdir();
  const { store } = await finished(t, dir);
  await store.close();
  t.strictSame((await examine({ dir })).findings, []);
  const root = openRoot(dir);
  await root.openDB('runs', { encoding: 'binary' }).remove([SCOPE, 'r1']);
  await root.close();
  const found = (await examine({ dir })).findings.filter(({ problem }) => problem.includes('answer'));
  t.strictSame(
    found.map(({ table, count, repaired }) => [table, count, repaired]),
    [
      ['dispatches', 1, false],
      ['messages', 1, false],
      ['events', 1, false],
    ],
  );
});
