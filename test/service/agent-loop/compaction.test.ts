import t from 'tap';
import { textOf } from '../../../src/schema/message.ts';
import { asks, type Inference } from '../models.ts';
import { createTestTools } from '../tools.ts';
import { ADMIN_TOKEN, eventually, type Troupe } from '../troupe.ts';
import { type View, viewOf } from '../view.ts';
import { endOf, requestsOf, say, seenIn, startWith } from './agents.ts';

/** Long threads: agent-loop.md 12 and 20, check 52; runtime.md 4.1 and 13.4. */

const policy = {
  max_context_tokens: 4096,
  max_output_tokens: 1024,
  min_recent_messages: 4,
  enable_prompt_cache: false,
  autocompact_threshold: 2000,
};

const compaction = {
  summarizer_system_prompt: 'Summarize.',
  summarizer_user_prompt: 'Before: {previous_summary} Now: {messages}',
  min_savings_ratio: 0.3,
  summary_model: 'summarizer',
};

const agent = (more: object = {}) => ({
  id: 'own',
  model_id: 'steps',
  context_policy: policy,
  sections: { compaction: { ...compaction, ...more } },
});

/** Returns a long text for turns, and the summary of the test for the summarizer. */
const answering =
  (summary: () => string): Inference =>
  (sink, { overrides }) => {
    sink.text(overrides.upstream_model === 'summarizer' ? summary() : 'a'.repeat(400));
    return { stop: 'EndTurn' };
  };

const begin = (troupe: Troupe, summary: () => string): void => {
  troupe.models.steps.push(...Array.from({ length: 200 }, () => answering(summary)));
};

const long = (n: number): string => `turn ${n} ${'x'.repeat(400)}`;

const turn = async (troupe: Troupe, n: number): Promise<void> => {
  const end = endOf(await troupe.runToEnd(say('own', long(n), 'T')));
  if (JSON.stringify(end.termination) !== '{"type":"natural_end"}') throw new Error(JSON.stringify(end));
};

const compactions = async (view: View, what = ''): Promise<{ event_kind: string; payload: object }[]> =>
  (await view.events()).filter(({ event_kind }) => event_kind.startsWith(`ContextCompaction${what}`));

const turns = (troupe: Troupe) =>
  requestsOf(troupe).filter(({ overrides }) => overrides.upstream_model !== 'summarizer');

t.test('summarizes the old part of a long thread for the model, but not for readers', async (t) => {
  const troupe = await startWith(t, { agents: [agent()] });
  const view = viewOf(troupe, 'T');
  let made = 0;
  begin(troupe, () => {
    made += 1;
    return `summary ${made}`;
  });
  for (let n = 0; n < 40; n += 1) await turn(troupe, n);

  const completed = await compactions(view, 'Completed');
  t.ok(completed.length >= 2, `${completed.length}`);
  t.match(completed[0]?.payload, {
    thread_id: 'T',
    boundary_index: 0,
    compaction_ordinal: 1,
    total_compactions: 1,
    summary_hash: /^[0-9a-f]{64}$/,
  });
  const [started] = await compactions(view, 'Started');
  t.match(started?.payload, { thread_id: 'T', task_id: /./, boundary_message_id: /./ });

  const external = await view.messages();
  t.equal(external.length, 80, 'all raw messages are listed');
  t.strictSame(
    external.filter(({ role }) => role === 'user').map(({ content }) => textOf(content)),
    Array.from({ length: 40 }, (_, n) => long(n)),
  );
  const summaries = await view.messages('&visibility=internal');
  t.equal(summaries.length, completed.length);
  t.match(summaries[0], {
    role: 'system',
    content: [{ text: '<conversation-summary>\nsummary 1\n</conversation-summary>' }],
    metadata: { compaction: { from_seq: 1 } },
  });

  const last = turns(troupe).at(-1);
  const seen = seenIn(last);
  t.match(seen[0], /^system: <conversation-summary>\nsummary \d+\n<\/conversation-summary>$/);
  t.equal(
    seen.filter((text) => text.includes('<conversation-summary>')).length,
    1,
    'one summary covers all earlier ones',
  );
  t.ok(seen.length < 40, `${seen.length} messages`);
  t.match(seen.at(-1), `user: ${long(39)}`);
  const second = requestsOf(troupe).filter(({ overrides }) => overrides.upstream_model === 'summarizer')[1];
  t.match(seenIn(second).join(), /Before: .*summary 1/, 'a summary includes the previous one');
  await view.check(t);

  await troupe.restart();
  await turn(troupe, 40);
  t.match(seenIn(turns(troupe).at(-1))[0], /<conversation-summary>/, 'the summary is used after a restart');
});

const SPENT = { prompt_tokens: 10_000, completion_tokens: 500, total_tokens: 10_500 };

/** A summarizer that reports its tokens, and turns that report none. */
const charging: Inference = async (sink, request, signal) => {
  const end = await answering(() => 'short')(sink, request, signal);
  return request.overrides.upstream_model === 'summarizer' ? { ...end, usage: SPENT } : end;
};

t.test('counts the tokens of a summary for the run that adopts it', async (t) => {
  const troupe = await startWith(t, { agents: [agent()] });
  troupe.models.steps.push(...Array.from({ length: 100 }, () => charging));
  const view = viewOf(troupe, 'T');
  let n = 0;
  for (; (await compactions(view, 'Completed')).length === 0; n += 1) await turn(troupe, n);
  const { items } = (await troupe.call('GET', '/v1/threads/T/runs')).body;
  const spent = { input_tokens: 10_000, output_tokens: 500 };
  t.match(items, [...Array.from({ length: n - 1 }, () => ({ input_tokens: 0, output_tokens: 0 })), spent]);
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
  const stats = (await troupe.call('GET', '/v1/agents/own/runtime-stats', undefined, headers)).body;
  t.match(stats, { input_tokens: 10_000, output_tokens: 500, inference_count: n + 1 });
});

t.test('counts the tokens of a summary toward a token budget', async (t) => {
  const limited = { ...agent(), stop_conditions: [{ type: 'token_budget' as const, max_total: 5000 }] };
  const { tools } = createTestTools();
  const troupe = await startWith(t, { agents: [limited], tools });
  // Each turn has two steps: a summary that is adopted after the first one is counted at the second.
  const inSteps: Inference = async (sink, request, signal) => {
    const { overrides, messages } = request;
    const isFirst = overrides.upstream_model !== 'summarizer' && messages.at(-1)?.role === 'user';
    return (isFirst ? asks([`c${messages.length}`, 'note']) : charging)(sink, request, signal);
  };
  troupe.models.steps.push(...Array.from({ length: 100 }, () => inSteps));
  let stopped: unknown;
  for (let n = 0; n < 40 && !stopped; n += 1) {
    const { termination } = endOf(await troupe.runToEnd(say('own', long(n), 'T')));
    if (Object(termination).type !== 'natural_end') stopped = termination;
  }
  t.match(stopped, { type: 'stopped', value: { code: 'token_budget' } });
});

t.test('does not block a turn for its summary', async (t) => {
  const troupe = await startWith(t, { agents: [agent()] });
  let release = (): void => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let waits = 0;
  const slow: Inference = async (sink, request, signal) => {
    if (request.overrides.upstream_model === 'summarizer') {
      waits += 1;
      await released;
    }
    return answering(() => 'summary')(sink, request, signal);
  };
  troupe.models.steps.push(...Array.from({ length: 100 }, () => slow));
  for (let n = 0; n < 15; n += 1) await turn(troupe, n);
  t.equal(waits, 1, 'summaries are written one at a time');
  t.strictSame(await compactions(viewOf(troupe, 'T'), 'Completed'), []);
  release();
  await new Promise((resolve) => setImmediate(resolve));
  for (let n = 15; n < 18; n += 1) await turn(troupe, n);
  t.match(await compactions(viewOf(troupe, 'T'), 'Completed'), [{ payload: { compaction_ordinal: 1 } }]);
});

t.test('reports a summary that fails or saves too little, and continues turns', async (t) => {
  await t.test('fails', async (t) => {
    const troupe = await startWith(t, { agents: [agent()] });
    begin(troupe, () => {
      throw new Error('no summary today');
    });
    for (let n = 0; n < 15; n += 1) await turn(troupe, n);
    const failed = await compactions(viewOf(troupe, 'T'), 'Failed');
    t.match(failed[0]?.payload, { failure_index: 0, error: /no summary today/, boundary_message_id: /./ });
    t.strictSame(await viewOf(troupe, 'T').messages('&visibility=internal'), []);
  });
  await t.test('saves too little', async (t) => {
    const troupe = await startWith(t, { agents: [agent()] });
    begin(troupe, () => 'y'.repeat(20_000));
    for (let n = 0; n < 15; n += 1) await turn(troupe, n);
    const skipped = await compactions(viewOf(troupe, 'T'), 'Skipped');
    t.match(skipped.at(-1)?.payload, { reason: /./ });
    t.strictSame(await compactions(viewOf(troupe, 'T'), 'Completed'), []);
    t.strictSame(await viewOf(troupe, 'T').messages('&visibility=internal'), []);
  });
});

t.test('drops the oldest history from the request only when compaction is off', async (t) => {
  const troupe = await startWith(t, { agents: [agent({ mode: 'off' })] });
  begin(troupe, () => 'never');
  for (let n = 0; n < 25; n += 1) await turn(troupe, n);
  t.strictSame(await compactions(viewOf(troupe, 'T')), []);
  const seen = seenIn(requestsOf(troupe).at(-1));
  t.ok(seen.length < 49 && seen.length >= 4, `${seen.length}`);
  t.equal(seen.at(-1), `user: ${long(24)}`);
  t.equal((await viewOf(troupe, 'T').messages()).length, 50);
});

t.test('drops nothing without a context policy', async (t) => {
  const troupe = await startWith(t, { agents: [{ id: 'own', model_id: 'steps' }] });
  begin(troupe, () => 'never');
  for (let n = 0; n < 12; n += 1) await turn(troupe, n);
  t.equal(seenIn(requestsOf(troupe).at(-1)).length, 23);
  t.strictSame(await compactions(viewOf(troupe, 'T')), []);
});

t.test('shortens a long tool result for the model, but not for readers', async (t) => {
  const troupe = await startWith(t, { agents: [agent()] });
  const note = 'n'.repeat(12_000);
  troupe.models.steps.push((sink) => {
    sink.toolStart('c1', 'append_note');
    sink.toolEnd('c1', JSON.stringify({ note }));
    return { stop: 'ToolUse' };
  });
  begin(troupe, () => 'summary');
  await turn(troupe, 0);
  const seen = seenIn(turns(troupe)[1]).find((text) => text.startsWith('tool: '));
  t.match(seen, /\[Content compacted: original ~\d+ tokens, showing first \d+ chars\]$/);
  t.ok((seen?.length ?? 0) < 2000);
  t.ok((await viewOf(troupe, 'T').texts()).some((text) => text.includes(note)));
});

t.test('52: the demo agent with a small window completes forty long turns', async (t) => {
  const troupe = await startWith(t);
  for (let n = 0; n < 40; n += 1) {
    const events = await troupe.runToEnd(say('compact', long(n), 'T'));
    t.match(endOf(events), { termination: { type: 'natural_end' } });
  }
  const view = viewOf(troupe, 'T');
  await eventually(
    () => view.messages(),
    (messages) => messages.length === 80,
  );
  await view.check(t);
});
