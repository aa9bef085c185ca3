import type { Message } from '@ag-ui/client';
import t from 'tap';
import type { HistoryItem } from '../../../src/protocols/ag-ui/messages.ts';
import { textOf } from '../../../src/schema/message.ts';
import { asks } from '../../service/models.ts';
import { says } from '../ai-sdk/live.ts';
import { createClient, play, summary, VERSIONS } from './client.ts';
import { startAgUi } from './live.ts';

/** A client that read live events holds the same messages as the message list and the replay of the thread. */

type Essence = { id: string; role: string; content: unknown; toolCalls: unknown; toolCallId: unknown };

/** The common part of both: texts, calls, results, and their ids. */
const essence = (messages: readonly Message[]): Essence[] =>
  messages
    .filter(({ role }) => role === 'assistant' || role === 'tool')
    .map((message) => ({
      id: message.id,
      role: message.role,
      content: message.content ?? '',
      toolCalls: 'toolCalls' in message ? message.toolCalls : undefined,
      toolCallId: 'toolCallId' in message ? message.toolCallId : undefined,
    }));

const listed = (items: readonly HistoryItem[]): Essence[] =>
  items
    .filter(({ role }) => role === 'assistant' || role === 'tool')
    .map(({ id, role, content, toolCalls, toolCallId }) => ({
      id,
      role,
      content: textOf(content),
      toolCalls,
      toolCallId,
    }));

/** The client groups the results of a message; elsewhere they are in order of arrival. */
const byCall = (messages: readonly Essence[]): Essence[] =>
  messages
    // The client has assigned an id to the result of its tool.
    .map((message) => (message.toolCallId === 'c2' ? { ...message, id: 't1' } : message))
    .toSorted((a, b) => (`${a.toolCallId}` < `${b.toolCallId}` ? -1 : 1));

const joined = (rows: readonly { frame: string }[]): string => rows.map(({ frame }) => frame).join('');

for (const mode of ['compacted', 'full_fidelity'] as const) {
  t.test(`${mode}: a run with tools`, async (t) => {
    const { steps, send, history, replay } = await startAgUi(t, mode);
    steps.push(
      (sink) => {
        sink.reasoning('Hm.');
        sink.text('Let me ');
        sink.text('look.');
        sink.toolStart('c1', 'note');
        sink.toolDelta('c1', '{');
        sink.toolDelta('c1', '}');
        sink.toolEnd('c1', '{}');
        sink.toolStart('c2', 'nobody');
        sink.toolEnd('c2', '{}');
        return { stop: 'ToolUse' };
      },
      says('Done', '.'),
    );
    const { frames, run_id } = await send('hi');
    const live = await play(frames);
    t.match(live, { error: undefined, result: { response: 'Done.', status: 'done' } });
    t.match(summary(frames)[0], `RUN_STARTED ${run_id}`);
    t.match(essence(live.messages), [
      { content: 'Let me look.', toolCalls: [{ id: 'c1' }, { id: 'c2' }] },
      { toolCallId: 'c1', content: '"did c1"' },
      { toolCallId: 'c2' },
      { content: 'Done.' },
    ]);
    t.match(history()[0], { role: 'user', content: [{ type: 'text', text: 'hi' }] });
    t.strictSame(listed(history()), essence(live.messages));
    const replayed = await play(joined(replay()));
    t.equal(replayed.error, undefined);
    t.strictSame(essence(replayed.messages), essence(live.messages));
    if (mode === 'full_fidelity') t.equal(joined(replay()), frames);
  });

  for (const Version of VERSIONS) {
    t.test(`${mode}: a run that is suspended, answered in two responses, and completed`, async (t) => {
      const { steps, send, history, replay, waiting } = await startAgUi(t, mode);
      const client = createClient(Version);
      steps.push(asks(['c1', 'risky'], ['c2', 'pick_color'], ['c3', 'risky']), says('Done.'));
      const first = await send('hi');
      t.match((await client.play(first.frames)).interrupts, [{ id: 'perm_c1' }, { id: 'perm_c3' }]);
      t.strictSame(listed(history()), essence(client.messages()), 'no call has a result yet');

      const answers = ['perm_c1', 'perm_c3'].map((interruptId) => ({
        interruptId,
        status: 'resolved' as const,
        payload: { approved: true },
      }));
      const yes = (tool_call_id: string) =>
        ({ tool_call_id, action: 'resume', payload: { approved: true } }) as const;
      const second = await send(undefined, [yes('c1'), yes('c3')], { waiting: waiting(first.run_id) });
      t.equal(second.run_id, first.run_id);
      const partial = await client.play(second.frames, { resume: answers });
      t.match(partial, { error: undefined, interrupts: { length: 0 } });
      const finish = second.frames.slice(second.frames.lastIndexOf('data: '));
      t.notMatch(finish, /outcome|interrupt/, 'the interrupt lists only the pending call of the client');

      client.agent.addMessage({ id: 't1', role: 'tool', toolCallId: 'c2', content: '"red"' });
      const color = [{ tool_call_id: 'c2', action: 'resume', payload: 'red' } as const];
      const third = await send(undefined, color, { answered: ['c2'], waiting: waiting(first.run_id) });
      t.equal((await client.play(third.frames)).error, undefined);
      t.strictSame(byCall(listed(history())), byCall(essence(client.messages())));
      const replayed = createClient(Version);
      t.equal((await replayed.play(joined(replay()))).error, undefined);
      t.strictSame(byCall(essence(replayed.messages())), byCall(essence(client.messages())));
    });
  }

  t.test(`${mode}: a new message instead of a decision`, async (t) => {
    const { steps, send, history, replay, waiting } = await startAgUi(t, mode);
    steps.push(asks(['c1', 'risky'], ['c2', 'risky']), asks(['c3', 'risky']));
    const first = await send('hi');
    const decisions = [{ tool_call_id: 'c1', action: 'cancel', payload: { approved: false } } as const];
    const second = await send('never mind', decisions, { waiting: waiting(first.run_id) });
    t.equal(second.run_id, first.run_id);
    const live = await play(second.frames);
    t.match(live.interrupts, [{ id: 'perm_c3' }]);
    t.equal(live.interrupts.length, 1, 'superseded calls are not interrupts');
    t.match(essence(live.messages), [
      { role: 'tool', toolCallId: 'c1', content: '{"approved":false}' },
      { role: 'assistant', toolCalls: [{ id: 'c3' }] },
    ]);
    t.match(listed(history()), [{ toolCalls: [{ id: 'c3' }] }], 'retracted calls are not listed');
    const replayed = await play(joined(replay()));
    t.match(replayed, { error: undefined, interrupts: [{ id: 'perm_c3' }] });
    t.equal(replayed.interrupts.length, 1);
  });

  t.test(`${mode}: replay pages from any cursor are parts of the same replay`, async (t) => {
    const { steps, send, replay } = await startAgUi(t, mode);
    steps.push(asks(['c1', 'note']), says('One', '.'), says('Two', '.'));
    await send('first');
    await send('second');
    const all = replay();
    const lines = summary(joined(all));
    t.equal(lines.filter((line) => line.startsWith('RUN_STARTED')).length, 2);
    t.equal(lines.at(-1), 'RUN_FINISHED');
    t.match(all[0]?.cursor, /^prcur_agui_/);
    t.strictSame(replay(), all);
    for (const [index, { cursor }] of all.entries()) {
      t.strictSame(replay(cursor, 2), all.slice(index + 1, index + 3));
    }
  });
}

t.test('rebuilds the steps, texts and arguments of a compacted log in a replay', async (t) => {
  const { steps, send, replay } = await startAgUi(t);
  steps.push(asks(['c1', 'note']), says('Do', 'ne.'));
  await send('hi');
  const events = summary(joined(replay())).map((line) => line.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/, 'ID'));
  t.strictSame(events, [
    'RUN_STARTED ID',
    'STEP_STARTED step_1',
    'TOOL_CALL_START c1',
    'TOOL_CALL_ARGS c1 {}',
    'TOOL_CALL_END c1',
    'TOOL_CALL_RESULT c1 "did c1"',
    'STEP_FINISHED step_1',
    'STEP_STARTED step_2',
    'TEXT_MESSAGE_START ID',
    'TEXT_MESSAGE_CONTENT ID Done.',
    'TEXT_MESSAGE_END ID',
    'STEP_FINISHED step_2',
    'RUN_FINISHED',
  ]);
});
