import t from 'tap';
import { chatReplay } from '../../../src/protocols/ai-sdk/replay.ts';
import { parseReplayCursor, ReplayLimit, resumePoint } from '../../../src/protocols/replay-cursor.ts';
import {
  type ReplayFrame,
  type ReplaySource,
  replayPage,
  replayText,
} from '../../../src/protocols/replay-log.ts';
import { Gone, Invalid } from '../../../src/schema/outcome.ts';
import { asks } from '../../service/models.ts';
import { summary } from './client.ts';
import { says, startChat } from './live.ts';

/** chat-and-agui.md 7. */

const joined = (rows: readonly ReplayFrame[]): string => rows.map(({ frame }) => frame).join('');

/** A thread with a run that was suspended, one that was cancelled while suspended, and a completed one. */
const played = async (t: Parameters<typeof startChat>[0], mode?: Parameters<typeof startChat>[1]) => {
  const chat = await startChat(t, mode);
  chat.steps.push(asks(['c1', 'risky']), says('One', '.'), asks(['c1', 'risky']), says('Two', '.'));
  const { run_id } = await chat.send('first');
  await chat.send(undefined, [{ tool_call_id: 'c1', action: 'resume', payload: null }], {
    continues: run_id,
  });
  await chat.send('second');
  await chat.runtime.cancel('default', 'T', 'thread');
  await chat.send('third');
  return chat;
};

for (const mode of ['compacted', 'full_fidelity'] as const) {
  t.test(`${mode}: pages of any size from any cursor are parts of the same replay`, async (t) => {
    const { replay } = await played(t, mode);
    const all = replay();
    t.strictSame(replay(), all);
    t.equal(new Set(all.map(({ cursor }) => cursor)).size, all.length);
    for (const size of [1, 2, 5]) {
      const pages: ReplayFrame[] = [];
      for (let page = replay(undefined, size); page.length > 0; page = replay(pages.at(-1)?.cursor, size)) {
        t.ok(page.length <= size);
        pages.push(...page);
      }
      t.strictSame(pages, all);
    }
    for (const [index, { cursor }] of all.entries()) {
      if (JSON.stringify(replay(cursor)) !== JSON.stringify(all.slice(index + 1))) t.fail(`behind ${cursor}`);
    }
  });
}

t.test('rebuilds the steps and texts of a compacted log', async (t) => {
  const lines = await summary(joined((await played(t)).replay()));
  const [first, second] = ['R1', 'R2'];
  const ids = [...new Set(lines.filter((line) => line.startsWith('start ')))];
  const named = lines.map((line) =>
    line.replace(ids[0] ?? '-', `start ${first}`).replace(ids[1] ?? '-', `start ${second}`),
  );
  const asking = [
    'data-run-info',
    'start-step',
    'tool-input-start c1',
    'tool-input-available c1',
    'data-inference-complete',
    'tool-approval-request c1',
    'finish-step',
    'finish tool-calls',
  ];
  const saying = (text: string) => [
    'start-step',
    'text-start txt_0',
    `text-delta txt_0 ${text}`,
    'data-inference-complete',
    'text-end txt_0',
    'finish-step',
    'finish stop',
  ];
  t.strictSame(named.slice(0, 18), [
    'start R1',
    ...asking,
    'start R1',
    'data-run-info',
    'tool-output-available c1',
    ...saying('One.').slice(0, 6),
  ]);
  t.strictSame(named.slice(18), [
    'finish stop',
    'start R2',
    ...asking,
    ids[2],
    'data-run-info',
    ...saying('Two.'),
  ]);
});

t.test('replays a full log as it was streamed', async (t) => {
  const chat = await startChat(t, 'full_fidelity');
  chat.steps.push(asks(['c1', 'note']), says('Do', 'ne.'));
  const { frames } = await chat.send('hi');
  t.equal(joined(chat.replay()), frames);
});

t.test('includes the cursors in the rows of a page', async (t) => {
  const { replay } = await played(t);
  const page = replay(undefined, 3);
  t.match(replayText(page), /^id: prcur_v6_\d+_0_[\w-]+\ndata: \{"type":"start",.*\}\n\nid: prcur_v6_/);
  for (const { cursor } of page) t.notMatch(cursor, /^\d+$/);
});

/** The cursor without the number of the frame. */
const eventIn = (cursor: string): string => cursor.replace(/^(prcur_v6_\d+)_\d+_/, '$1_');

t.test('rejects blank and malformed cursors, and returns 410 for foreign ones', async (t) => {
  let own = '';
  await t.test('here', async (t) => {
    const { replay } = await played(t);
    t.throws(() => replay(''), new Invalid('cursor cannot be empty'));
    t.throws(() => replay(' '), new Invalid('cursor cannot be empty'));
    for (const text of ['garbage', '17', 'prcur_', 'prcur_v6_0_0_x', 'prcur_v6_1_0_', 'prcur_v6_1_0_x y'])
      t.throws(() => replay(text), Invalid, text);
    own = replay()[0]?.cursor ?? '';
    // The first event has this many frames, and none follows the last of them.
    const frames = replay().filter(({ cursor }) => eventIn(cursor) === eventIn(own)).length;
    const last = own.replace(/_0_/, `_${frames - 1}_`);
    t.equal(replay(last, 1)[0]?.cursor, replay()[frames]?.cursor);
    const gone = [
      own.replace(/_0_/, `_${frames}_`),
      own.replace('v6', 'agui'),
      own.replace(/_\d+_0_/, '_9999_0_'),
      own.replace(/_0_/, '_99_'),
      own.replace(/.{3}$/, 'zzz'),
    ];
    for (const cursor of gone) t.throws(() => replay(cursor), new Gone(cursor));
  });
  await t.test('in another thread', async (t) => {
    const { replay } = await played(t);
    t.throws(() => replay(own), new Gone(own));
  });
});

const EMPTY: ReplaySource = { thread: () => [], run: () => [] };

t.test('returns nothing for a thread without events', async (t) => {
  t.strictSame(replayPage(EMPTY, chatReplay, undefined, 10), []);
  t.throws(() => replayPage(EMPTY, chatReplay, 'prcur_v6_1_0_abc', 10), Gone);
});

t.test('returns only the end of a run whose start has expired', async (t) => {
  const chat = await startChat(t);
  await chat.send('hi');
  const rows = chat.store.events.list('default', { thread_id: 'T' }, 0, 100).rows;
  const start = rows.findIndex(({ event }) => event.event_kind === 'RunStarted');
  const left = rows.slice(start + 1);
  const source = { thread: () => left, run: () => left.filter(({ event }) => event.run_id !== undefined) };
  t.strictSame(await summary(joined(replayPage(source, chatReplay, undefined, 100))), ['finish stop']);
});

t.test('reads no more of the log than a page needs', async (t) => {
  const chat = await startChat(t);
  for (let run = 0; run < 5; run += 1) await chat.send('hi');
  let read = 0;
  const rows = chat.store.events.list('default', { thread_id: 'T' }, 0, 500).rows;
  function* counted(from: number, run_id?: string) {
    for (const row of rows) {
      if (row.seq < from || (run_id !== undefined && row.event.run_id !== run_id)) continue;
      read += 1;
      yield row;
    }
  }
  const source = {
    thread: (from: number) => counted(from),
    run: (id: string, from: number) => counted(from, id),
  };
  const all = replayPage(source, chatReplay, undefined, 500);
  const last = all.at(-3)?.cursor;
  read = 0;
  replayPage(source, chatReplay, last, 1);
  t.ok(read < rows.length / 2, `${read} of ${rows.length}`);
});

t.test('limits the size of a page', async (t) => {
  const sizes = [undefined, '0', '1', '500', '9999'].map((text) => ReplayLimit.parse(text));
  t.strictSame(sizes, [100, 1, 1, 500, 500]);
  for (const text of ['x', '-1', '1.5', '']) t.notOk(ReplayLimit.safeParse(text).success);
});

t.test('treats a numeric Last-Event-ID as a live position, and any other as a cursor', async (t) => {
  t.strictSame(resumePoint(undefined), { after: undefined });
  t.strictSame(resumePoint(''), { after: undefined });
  t.strictSame(resumePoint('5'), { after: 5 });
  t.strictSame(resumePoint('prcur_v6_1_0_a'), { cursor: 'prcur_v6_1_0_a' });
  t.match(parseReplayCursor('prcur_v6_12_3_a-b'), { protocol: 'v6', seq: 12, index: 3, tail: 'a-b' });
});
