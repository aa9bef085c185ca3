import { safeValidateUIMessages, type UIMessage } from 'ai';
import t from 'tap';
import { asks } from '../../service/models.ts';
import { play, summary } from './client.ts';
import { says, startChat } from './live.ts';

/** A client that read a live stream holds the same messages as the history and the replay of the thread. */

type Part = UIMessage['parts'][number];

/** The common part of both: texts, and calls with their results. */
const essence = (messages: readonly { parts: readonly unknown[] }[]): unknown[] =>
  messages
    // The official validator checks the parts of the history.
    .flatMap(({ parts }) => parts as readonly Part[])
    .flatMap((part): unknown[] => {
      if (part.type === 'text') return [part.text];
      if (!('toolCallId' in part)) return [];
      const { type, toolCallId, state, input } = part;
      return [{ type, toolCallId, state, input, output: 'output' in part ? part.output : undefined }];
    });

const answersOf = (messages: readonly { role: string; parts: readonly unknown[] }[]) =>
  messages.filter(({ role }) => role === 'assistant');

const joined = (rows: readonly { frame: string }[]): string => rows.map(({ frame }) => frame).join('');

for (const mode of ['compacted', 'full_fidelity'] as const) {
  t.test(`${mode}: a run with tools`, async (t) => {
    const chat = await startChat(t, mode);
    chat.steps.push(
      (sink) => {
        sink.reasoning('Hm.');
        sink.text('Let me ');
        sink.text('look.');
        sink.toolStart('c1', 'note');
        sink.toolDelta('c1', '{}');
        sink.toolEnd('c1', '{}');
        sink.toolStart('c2', 'nobody');
        sink.toolEnd('c2', '{}');
        return { stop: 'ToolUse' };
      },
      says('Done', '.'),
    );
    const { frames, run_id } = await chat.send('hi');
    const { message, errors } = await play(frames);
    t.strictSame(errors, []);
    t.equal(message?.id, run_id);
    const history = chat.history();
    t.ok((await safeValidateUIMessages({ messages: history })).success);
    t.match(history[0], { role: 'user', parts: [{ type: 'text', text: 'hi' }] });
    const live = essence(message ? [message] : []);
    t.match(live, ['Let me look.', { toolCallId: 'c1', output: 'did c1' }, { toolCallId: 'c2' }, 'Done.']);
    const failed = live.findIndex(
      (part) => typeof part === 'object' && part && 'state' in part && part.state === 'output-error',
    );
    const stored = essence(answersOf(history));
    t.equal(failed, 2, 'stored results have no failure flag');
    t.strictSame(stored.toSpliced(failed, 1), live.toSpliced(failed, 1));

    const replayed = await play(joined(chat.replay()));
    t.strictSame(replayed.errors, []);
    t.equal(replayed.message?.id, run_id);
    t.strictSame(essence(replayed.message ? [replayed.message] : []), live);
  });

  t.test(`${mode}: a run that is suspended, answered in two responses, and completed`, async (t) => {
    const chat = await startChat(t, mode);
    chat.steps.push(asks(['c1', 'risky'], ['c2', 'pick_color']), says('Done.'));
    const first = await chat.send('hi');
    const { message } = await play(first.frames);
    t.match(essence(message ? [message] : []), [
      { toolCallId: 'c1', state: 'approval-requested' },
      { toolCallId: 'c2', state: 'input-available' },
    ]);
    t.strictSame(essence(answersOf(chat.history())), essence(message ? [message] : []));

    const options = { continues: first.run_id };
    const decisions = [{ tool_call_id: 'c1', action: 'resume', payload: { approved: true } } as const];
    const second = await chat.send(undefined, decisions, options);
    t.equal(second.run_id, first.run_id);
    const partial = await play(second.frames, message);
    t.strictSame(partial.errors, []);
    t.match(essence(partial.message ? [partial.message] : []), [
      { toolCallId: 'c1', state: 'output-available', output: 'did c1' },
      { toolCallId: 'c2', state: 'input-available' },
    ]);

    const color = [{ tool_call_id: 'c2', action: 'resume', payload: 'red' } as const];
    const third = await chat.send(undefined, color, options);
    const whole = await play(third.frames, partial.message);
    t.strictSame(whole.errors, []);
    const live = essence(whole.message ? [whole.message] : []);
    t.match(live, [{ output: 'did c1' }, { output: 'red' }, 'Done.']);
    t.strictSame(essence(answersOf(chat.history())), live);
    const replayed = await play(joined(chat.replay()));
    t.strictSame(replayed.errors, []);
    t.strictSame(essence(replayed.message ? [replayed.message] : []), live);
  });

  t.test(`${mode}: a new message with a decision`, async (t) => {
    const chat = await startChat(t, mode);
    chat.steps.push(asks(['c1', 'risky'], ['c2', 'risky']), says('Well.'));
    const first = await chat.send('hi');
    const earlier = (id: string) => ({ name: 'risky', arguments: { of: id } });
    const decisions = [{ tool_call_id: 'c1', action: 'cancel', payload: { approved: false } } as const];
    const second = await chat.send('never mind', decisions, { earlier });
    t.equal(second.run_id, first.run_id);
    const { message, errors } = await play(second.frames);
    t.strictSame(errors, []);
    t.not(message?.id, first.run_id, 'the client receives a new message');
    t.match(essence(message ? [message] : []), [{ toolCallId: 'c1', state: 'output-denied' }, 'Well.']);
    t.strictSame(essence(answersOf(chat.history())), ['Well.'], 'retracted calls are not listed');
    const lines = await summary(joined(chat.replay()));
    const start = lines.findLastIndex((line) => line.startsWith('start '));
    t.match(lines.slice(start + 2, start + 4), ['tool-input-available c1', 'tool-output-denied c1']);
  });
}
