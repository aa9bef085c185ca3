import { createHash } from 'node:crypto';
import t from 'tap';
import type { InferenceRequest, Model } from '../../../src/models/model.ts';
import { type CompactionPlan, planCompaction } from '../../../src/plugins/context/compaction.ts';
import {
  compactionEnded,
  compactionMarks,
  compactionSkipped,
  compactionStarted,
  NO_COMPACTIONS,
} from '../../../src/plugins/context/compaction-marks.ts';
import { type Compactor, createCompactor } from '../../../src/plugins/context/compactor.ts';
import { compactionSettings, shorteningLimits } from '../../../src/plugins/context/settings.ts';
import { summaryPrompt } from '../../../src/plugins/context/summary.ts';
import { textTokens } from '../../../src/plugins/context/text-tokens.ts';
import { type Message, textOf } from '../../../src/schema/message.ts';
import { assistant, calls, result, summary, user } from './history.ts';

const LIMITS = shorteningLimits({ sections: {} });
const SETTINGS = compactionSettings({ sections: {} });

type Summarizer = (request: InferenceRequest, signal: AbortSignal) => string | Promise<string>;

const modelOf = (answer: Summarizer): Model => ({
  id: 'm',
  provider: 'p',
  upstream: 'u',
  async stream(request, sink, signal) {
    sink.text(await answer(request, signal));
    return { stop: 'EndTurn' };
  },
});

const compactorOf = (answer: Summarizer, more: Partial<typeof SETTINGS> = {}): Compactor => {
  const next = (count: { last: number }): number => {
    count.last += 1;
    return count.last;
  };
  const time = { last: 0 };
  const id = { last: 0 };
  return createCompactor({
    model: modelOf(answer),
    settings: { ...SETTINGS, ...more },
    limits: LIMITS,
    view: (messages) => messages,
    clock: { now: () => next(time) },
    ids: { uuid: () => `id${next(id)}` },
  });
};

const HISTORY = [user(2000), assistant(), user(), assistant()];

const plan = (history: readonly Message[] = HISTORY): CompactionPlan => {
  const planned = planCompaction(history, {
    compaction_mode: 'keep_recent_raw_suffix',
    compaction_raw_suffix_messages: 2,
  });
  if (planned?.kind !== 'compact') throw new Error('nothing to compact');
  return planned;
};

t.test('stores a summary as an internal system message with its range', async (t) => {
  const compactor = compactorOf(() => ' They spoke. ');
  const task = compactor.begin(plan());
  const outcome = await task?.outcome;
  const text = '<conversation-summary>\nThey spoke.\n</conversation-summary>';
  t.match(outcome, {
    task_id: task?.task_id,
    result: {
      kind: 'completed',
      message: {
        role: 'system',
        visibility: 'internal',
        content: [{ type: 'text', text }],
        metadata: { compaction: { from_seq: 1, to_seq: 2 } },
      },
      post_tokens: 4 + textTokens(text),
      summary_hash: createHash('sha256').update(text).digest('hex'),
    },
  });
});

t.test('starts a task without waiting for the model, and only one at a time', async (t) => {
  let answer = (_text: string): void => {};
  const compactor = compactorOf(
    () =>
      new Promise((resolve) => {
        answer = resolve;
      }),
  );
  const task = compactor.begin(plan());
  t.ok(task);
  t.equal(compactor.take(), undefined);
  t.equal(compactor.begin(plan()), undefined);
  answer('short');
  await task?.outcome;
  t.equal(compactor.begin(plan()), undefined, 'the previous outcome has not been taken');
  t.match(compactor.take(), { result: { kind: 'completed' } });
  t.equal(compactor.take(), undefined);
  t.ok(compactor.begin(plan()));
});

t.test('ends a cancelled task at once, even if the model ignores the signal', async (t) => {
  let seen: AbortSignal | undefined;
  const compactor = compactorOf((_, signal) => {
    seen = signal;
    return new Promise(() => {});
  });
  const task = compactor.begin(plan());
  compactor.cancel();
  t.match(await task?.outcome, { result: { kind: 'cancelled' } });
  t.equal(seen?.aborted, true);
});

t.test('ignores a cancel without a task', async (t) => {
  const compactor = compactorOf(() => 'short');
  compactor.cancel();
  t.match(await compactor.begin(plan())?.outcome, { result: { kind: 'completed' } });
});

t.test('reports a failing or empty summarizer as a failure without throwing', async (t) => {
  const failing = compactorOf(() => {
    throw new Error('provider overloaded: busy');
  });
  t.match(await failing.begin(plan())?.outcome, {
    result: { kind: 'failed', error: 'provider overloaded: busy' },
  });
  t.match(await compactorOf(() => ' \n').begin(plan())?.outcome, { result: { kind: 'failed' } });
});

t.test('discards a summary that saves too little', async (t) => {
  // The estimate of the range is 2010; 70 % of it is 1407.
  const frame = textTokens('<conversation-summary>\nx\n</conversation-summary>') - 1;
  const ofTokens = (tokens: number) => 'x '.repeat(tokens - 4 - frame);
  const kind = async (tokens: number, ratio = 0.3) =>
    (await compactorOf(() => ofTokens(tokens), { min_savings_ratio: ratio }).begin(plan())?.outcome)?.result
      .kind;
  t.equal(await kind(1407), 'completed');
  t.equal(await kind(1408), 'skipped');
  t.equal(await kind(1408, 0.1), 'completed');
});

t.test('starts no task in mode off', async (t) => {
  t.equal(compactorOf(() => 'short', { mode: 'off' }).begin(plan()), undefined);
});

t.test('sends prompts, model and limit to the summarizer, and no tools', async (t) => {
  const requests: InferenceRequest[] = [];
  const compactor = compactorOf(
    (request) => {
      requests.push(request);
      return 'short';
    },
    { summary_model: 'small', summary_max_tokens: 77, summarizer_system_prompt: 'Condense.' },
  );
  await compactor.begin(plan())?.outcome;
  t.match(requests, [
    { system: ['Condense.'], tools: [], overrides: { max_tokens: 77, upstream_model: 'small' } },
  ]);
});

const promptText = (template: string, history: readonly Message[]): string =>
  summaryPrompt(plan(history), { ...SETTINGS, summarizer_user_prompt: template }, LIMITS).user;

t.test('fills placeholders once, whatever the messages contain', async (t) => {
  const said: Message = { ...user(), content: [{ type: 'text', text: '{previous_summary} $& {messages}' }] };
  const history = [user(), assistant(), summary(1, 2, 'before'), said, assistant(2000), user(), assistant()];
  t.ok(
    promptText('A {previous_summary} B {messages} C {other}', history).startsWith(
      'A before B user: {previous_summary} $& {messages}\n\nassistant: x x x',
    ),
  );
  t.ok(promptText('A {messages} C {other}', history).endsWith('x  C {other}'));
});

t.test('appends the messages to a prompt without a placeholder for them', async (t) => {
  t.ok(promptText('Condense this.', HISTORY).startsWith('Condense this.\n\nuser: x x x'));
});

t.test('shows calls with arguments and shortened results to the summarizer', async (t) => {
  const history = [user(), calls('c1'), result('c1', 5000), user(), assistant()];
  const text = promptText('{messages}', history);
  t.match(text, 'assistant: calls tool (c1) with {}');
  t.match(text, 'tool (c1): x x x');
  t.match(text, '[Content compacted: original ~5000 tokens, showing first 1600 chars]');
  t.ok(text.length < 2000);
});

t.test('counts the outcomes of compactions in events and state of the thread', async (t) => {
  const task = compactorOf(() => 'short').begin(plan());
  const outcome = await task?.outcome;
  if (!task || !outcome) throw new Error('no task');
  const boundary_message_id = HISTORY[1]?.id;
  const { task_id } = task;
  t.same(compactionStarted('t1', task), {
    kind: 'ContextCompactionStarted',
    payload: { thread_id: 't1', task_id, boundary_message_id, started_at_ms: task.started_at_ms },
  });

  const first = compactionEnded('t1', NO_COMPACTIONS, outcome);
  const second = compactionEnded('t1', first.marks, outcome);
  t.match(first.event, {
    kind: 'ContextCompactionCompleted',
    payload: { thread_id: 't1', task_id, boundary_message_id, pre_tokens: 2010, boundary_index: 0 },
  });
  t.match(second.event.payload, { boundary_index: 1, compaction_ordinal: 2, total_compactions: 2 });

  const ended = (result: typeof outcome.result) =>
    compactionEnded('t1', second.marks, { ...outcome, result });
  const failed = ended({ kind: 'failed', error: 'no' });
  t.match(failed.event, {
    kind: 'ContextCompactionFailed',
    payload: { failure_index: 0, error: 'no', boundary_message_id },
  });
  t.same(compactionMarks.schema.parse(failed.marks), {
    completed: 2,
    failed: 1,
    skipped: 0,
    tried_to_seq: 2,
  });
  const skipped = ended({ kind: 'skipped', reason: 'insufficient_savings', post_tokens: 9 });
  t.match(skipped.event, {
    kind: 'ContextCompactionSkipped',
    payload: { skip_index: 0, reason: 'insufficient_savings' },
  });
  const cancelled = ended({ kind: 'cancelled' });
  t.match(cancelled.event, { kind: 'ContextCompactionCancelled', payload: { task_id } });
  t.same(cancelled.marks, second.marks);

  const skip = planCompaction([user(500), assistant(), user(), assistant()], {
    compaction_mode: 'keep_recent_raw_suffix',
    compaction_raw_suffix_messages: 2,
  });
  if (skip?.kind !== 'skip') throw new Error('there is a plan');
  t.match(compactionSkipped(skipped.marks, skip), {
    marks: { skipped: 2, tried_to_seq: 2 },
    event: { kind: 'ContextCompactionSkipped', payload: { skip_index: 1, reason: 'too_little_gain' } },
  });
});

t.test('summarizes the messages that the loop shows to the model', async (t) => {
  let asked = '';
  const compactor = createCompactor({
    model: modelOf((request) => {
      asked = textOf(request.messages[0]?.content ?? []);
      return 'short';
    }),
    settings: SETTINGS,
    limits: LIMITS,
    view: (messages) => messages.slice(1),
    clock: { now: () => 0 },
    ids: { uuid: () => 'id' },
  });
  await compactor.begin(plan())?.outcome;
  t.notMatch(asked, 'user: x x x');
  t.match(asked, 'assistant: x x x');
});
