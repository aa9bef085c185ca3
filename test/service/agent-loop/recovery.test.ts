import t from 'tap';
import { ModelError } from '../../../src/models/errors.ts';
import { createLog } from '../../../src/observability/log.ts';
import { type EntriesInput, entriesFrom } from '../../../src/settings/index.ts';
import type { Tool } from '../../../src/tools/tool.ts';
import { asks, type Inference } from '../models.ts';
import { startDemo } from '../troupe.ts';
import { viewOf } from '../view.ts';
import { endOf, only, requestsOf, resultsIn, say, says, seenIn, startWith, textIn, types } from './agents.ts';

/** Completions that are interrupted, are truncated or fail: agent-loop.md 6, 9.3 to 9.5. */

const retry = { max_retries: 1, backoff_base_ms: 1, overloaded_backoff_base_ms: 1, max_stream_retries: 2 };

const agents: EntriesInput['agents'] = [
  { id: 'own', model_id: 'steps', max_rounds: 6, max_continuation_retries: 2, sections: { retry } },
];

const breaksOff =
  (say: Inference, error = new ModelError('stream_interrupted', 'connection reset')): Inference =>
  async (sink, request, signal) => {
    await say(sink, request, signal);
    throw error;
  };

const call =
  (id: string, complete: boolean): Inference =>
  (sink) => {
    sink.toolStart(id, 'append_note');
    sink.toolDelta(id, '{"note":');
    if (complete) sink.toolEnd(id, '{"note":"n"}');
    return { stop: 'ToolUse' };
  };

t.test('continues a stream that is interrupted in its text as one message', async (t) => {
  const troupe = await startWith(t, { agents });
  troupe.models.steps.push(breaksOff(says('one ')), breaksOff(says('two ')), says('three'));
  const events = await troupe.runToEnd(say('own', 'x', 'T'));
  t.equal(textIn(events), 'one two three');
  t.strictSame(only(events, 'stream_reset'), []);
  t.equal(only(events, 'step_start').length, 1);
  t.match(endOf(events), { termination: { type: 'natural_end' }, result: { response: 'one two three' } });
  t.match(seenIn(requestsOf(troupe).at(-1)), ['user: x', 'assistant: one two ', /^user: /]);
  t.strictSame(await viewOf(troupe, 'T').texts(), ['user: x', 'assistant: one two three']);
});

t.test('restarts a stream that is interrupted without usable output, and notifies readers', async (t) => {
  const troupe = await startWith(t, { agents });
  troupe.models.steps.push(breaksOff(call('lost', false)), says('new'));
  const events = await troupe.runToEnd(say('own', 'x', 'T'));
  t.match(only(events, 'stream_reset'), [{ reason: 'connection reset' }]);
  t.match(endOf(events), { termination: { type: 'natural_end' }, result: { response: 'new' } });
  t.strictSame(only(events, 'tool_call_done'), []);
  t.strictSame(await viewOf(troupe, 'T').texts(), ['user: x', 'assistant: new']);
});

t.test('cancels a call that is interrupted after text, and continues the text', async (t) => {
  const troupe = await startWith(t, { agents });
  const textAndCall: Inference = async (sink, request, signal) => {
    sink.text('so ');
    return call('lost', false)(sink, request, signal);
  };
  troupe.models.steps.push(breaksOff(textAndCall), says('far'));
  const events = await troupe.runToEnd(say('own'));
  t.match(only(events, 'tool_call_cancel'), [
    { id: 'lost', name: 'append_note', reason: 'connection reset' },
  ]);
  t.match(endOf(events), { result: { response: 'so far' } });
});

t.test('executes the complete calls of a broken stream, and reports the lost one to the model', async (t) => {
  const troupe = await startWith(t, { agents });
  const twoCalls: Inference = async (sink, request, signal) => {
    await call('whole', true)(sink, request, signal);
    return call('lost', false)(sink, request, signal);
  };
  troupe.models.steps.push(breaksOff(twoCalls), says('done'));
  const events = await troupe.runToEnd(say('own', 'x', 'T'));
  t.match(only(events, 'tool_call_ready'), [{ id: 'whole' }]);
  t.match(only(events, 'tool_call_cancel'), [{ id: 'lost' }]);
  t.match(only(events, 'tool_call_done'), [{ id: 'whole', outcome: 'succeeded' }]);
  t.match(seenIn(requestsOf(troupe).at(-1)), [
    'user: x',
    'assistant: ',
    'tool: {"added":"n","count":1}',
    /^user: .*append_note/,
  ]);
  t.match(endOf(events), { termination: { type: 'natural_end' } });
  const [asked] = (await viewOf(troupe, 'T').messages()).filter(({ tool_calls }) => tool_calls);
  t.equal(asked?.tool_calls?.length, 1);
});

t.test(
  'fails a stream that is interrupted too often, and retries the attempt in the same stream',
  async (t) => {
    const troupe = await startWith(t, {
      agents,
      settings: { mailbox: { retry_base_ms: 1, retry_cap_ms: 1 } },
    });
    troupe.models.steps.push(...['a', 'b', 'c'].map((text) => breaksOff(says(text))), says('new'));
    const events = await troupe.runToEnd(say('own', 'x', 'T'));
    t.match(only(events, 'stream_reset'), [{ reason: 'resumed from checkpoint' }]);
    t.match(endOf(events), { termination: { type: 'natural_end' }, result: { response: 'new' } });
    t.strictSame(await viewOf(troupe, 'T').texts(), ['user: x', 'assistant: new']);
  },
);

t.test('retries a failed request silently', async (t) => {
  const troupe = await startWith(t, { agents });
  troupe.models.steps.push(() => {
    throw new ModelError('rate_limited', 'slow down');
  }, says('at last'));
  t.strictSame(types(await troupe.runToEnd(say('own'))), [
    'run_start',
    'step_start',
    'text_delta',
    'inference_complete',
    'state_snapshot',
    'step_end',
    'state_snapshot',
    'run_finish',
  ]);
  t.equal(requestsOf(troupe).length, 2);
});

const cutOff =
  (text: string): Inference =>
  (sink) => {
    sink.text(text);
    return { stop: 'MaxTokens' };
  };

t.test('continues a truncated completion up to the limit of the agent, and then keeps it', async (t) => {
  const troupe = await startWith(t, { agents });
  troupe.models.steps.push(cutOff('one'), cutOff('two'), cutOff('three'), says('not asked for'));
  const events = await troupe.runToEnd(say('own', 'x', 'T'));
  t.equal(only(events, 'step_start').length, 3);
  t.match(endOf(events), { termination: { type: 'natural_end' }, result: { response: 'three' } });
  t.strictSame(await viewOf(troupe, 'T').texts(), [
    'user: x',
    'assistant: one',
    'assistant: two',
    'assistant: three',
  ]);
  t.equal((await viewOf(troupe, 'T').messages('&visibility=internal')).length, 2);
});

for (const begun of ['{"no', '']) {
  t.test(`does not execute a call that is truncated after '${begun}'`, async (t) => {
    const troupe = await startWith(t, { agents });
    troupe.models.steps.push((sink) => {
      sink.toolStart('cut', 'append_note');
      sink.toolDelta('cut', begun);
      sink.toolEnd('cut', begun);
      return { stop: 'MaxTokens' };
    }, says('smaller'));
    const events = await troupe.runToEnd(say('own', 'x', 'T'));
    t.strictSame(only(events, 'tool_call_ready'), []);
    t.match(only(events, 'tool_call_cancel'), [{ id: 'cut', reason: 'output limit' }]);
    t.strictSame(only(events, 'tool_call_done'), []);
    t.match(endOf(events), { termination: { type: 'natural_end' }, result: { response: 'smaller' } });
    await viewOf(troupe, 'T').check(t);
  });
}

t.test('executes calls that were complete before the truncation, and returns their results', async (t) => {
  const troupe = await startWith(t, { agents });
  troupe.models.steps.push((sink) => {
    sink.text('let me');
    sink.toolStart('whole', 'get_weather');
    sink.toolEnd('whole', '{"location":"Oslo"}');
    sink.toolStart('cut', 'get_weather');
    sink.toolEnd('cut', '{"loc');
    return { stop: 'MaxTokens' };
  }, says('sunny'));
  const events = await troupe.runToEnd(say('own', 'x', 'T'));
  t.match(only(events, 'tool_call_ready'), [{ id: 'whole' }]);
  t.match(only(events, 'tool_call_cancel'), [{ id: 'cut' }]);
  t.match(only(events, 'tool_call_done'), [{ id: 'whole', outcome: 'succeeded' }]);
  t.match(endOf(events), { result: { response: 'sunny' } });
  t.equal(
    (await viewOf(troupe, 'T').messages('&visibility=internal')).length,
    0,
    'the model is not asked to continue',
  );
  await viewOf(troupe, 'T').check(t);
});

t.test('reports invalid arguments to the model', async (t) => {
  const troupe = await startWith(t, { agents });
  for (const [args, words] of [
    ['{"location"', /^Invalid arguments: /],
    ['{}', /^Invalid arguments: Missing 'location'$/],
    ['', /^Invalid arguments: Missing 'location'$/],
    ['null', /^Invalid arguments: Missing 'location'$/],
    ['{"location":5}', /^Invalid arguments: .*location/],
    ['[1]', /^Invalid arguments: /],
  ] as const) {
    troupe.models.steps.push((sink) => {
      sink.toolStart('c', 'get_weather');
      sink.toolEnd('c', args);
      return { stop: 'ToolUse' };
    }, says('sorry'));
    const events = await troupe.runToEnd(say('own'));
    t.match(resultsIn(events), [{ status: 'error', message: words }], args);
    t.match(endOf(events), { termination: { type: 'natural_end' } });
  }
  troupe.models.steps.push((sink) => {
    sink.toolStart('c', 'failingTool');
    sink.toolEnd('c', '');
    return { stop: 'ToolUse' };
  }, says('sorry'));
  t.match(resultsIn(await troupe.runToEnd(say('own'))), [
    { message: 'Execution failed: Intentional failingTool error for e2e validation' },
  ]);
});

t.test('validates arguments by the schema for tools without validation', async (t) => {
  const taken: unknown[] = [];
  const tool: Tool = {
    descriptor: {
      id: 'strict',
      name: 'strict',
      description: 'strict',
      parameters: {
        type: 'object',
        properties: { n: { type: 'integer', minimum: 1 } },
        required: ['n'],
        additionalProperties: false,
      },
      category: null,
    },
    idempotent: false,
    exclusive: false,
    checksOwnArguments: false,
    execute: async (args) => {
      taken.push(args);
      return { data: 'ok' };
    },
  };
  const troupe = await startWith(t, { agents, tools: [tool] });
  for (const [args, result] of [
    [{}, { status: 'error', message: /^Invalid arguments: / }],
    [{ n: 0 }, { status: 'error', message: /^Invalid arguments: / }],
    [{ n: '1' }, { status: 'error', message: /^Invalid arguments: / }],
    [
      { n: 1, more: 1 },
      { status: 'error', message: /^Invalid arguments: / },
    ],
    [{ n: 1 }, { status: 'success', data: 'ok' }],
  ] as const) {
    troupe.models.steps.push(asks(['c', 'strict', args]), says('done'));
    t.match(resultsIn(await troupe.runToEnd(say('own'))), [result], JSON.stringify(args));
  }
  t.strictSame(taken, [{ n: 1 }]);
});

t.test('distinguishes calls of one message that share an id', async (t) => {
  const troupe = await startWith(t, { agents });
  troupe.models.steps.push((sink) => {
    for (const note of ['a', 'b']) {
      sink.toolStart('same', 'append_note');
      sink.toolEnd('same', JSON.stringify({ note }));
    }
    return { stop: 'ToolUse' };
  }, says('done'));
  const events = await troupe.runToEnd(say('own', 'x', 'T'));
  t.equal(new Set(only(events, 'tool_call_done').map(({ id }) => id)).size, 2);
  t.match(resultsIn(events), [{ data: { added: 'a' } }, { data: { added: 'b' } }]);
  await viewOf(troupe, 'T').check(t);
});

t.test('makes call ids unique and names non-empty', async (t) => {
  const troupe = await startWith(t, { agents });
  const ids = ['a', 'a_2', 'a', '', ' '];
  troupe.models.steps.push((sink) => {
    for (const id of ids) {
      sink.toolStart(id, id === ' ' ? ' ' : 'get_weather');
      sink.toolDelta(id, '{"location":"Oslo"}');
      sink.toolEnd(id, '{"location":"Oslo"}');
    }
    return { stop: 'ToolUse' };
  }, says('done'));
  const events = await troupe.runToEnd(say('own', 'x', 'T'));
  const given = ['a', 'a_2', 'a_3', 'call', 'call_2'];
  for (const type of ['tool_call_start', 'tool_call_ready'] as const) {
    t.strictSame(
      only(events, type).map(({ id }) => id),
      given,
    );
  }
  t.match(resultsIn(events).at(-1), { message: "tool 'unnamed' not found" });
  t.match(endOf(events), { result: { response: 'done' } });
  await viewOf(troupe, 'T').check(t);
});

t.test('reports arguments that nest too deep to the model', async (t) => {
  const troupe = await startWith(t, { agents });
  troupe.models.steps.push((sink) => {
    sink.toolStart('c', 'get_weather');
    sink.toolEnd('c', `{"location":"Oslo","more":${'['.repeat(5000)}${']'.repeat(5000)}}`);
    return { stop: 'ToolUse' };
  }, says('sorry'));
  const events = await troupe.runToEnd(say('own'));
  t.match(resultsIn(events), [{ message: 'Invalid arguments: the arguments nest deeper than 128 levels' }]);
  t.match(endOf(events), { result: { response: 'sorry' } });
});

const failing =
  (detail: string, more: { retryAfterSeconds?: number } = {}): Inference =>
  () => {
    throw new ModelError('rate_limited', detail, more);
  };

t.test('does not block other runs of a model after runs that fail by a rate limit', async (t) => {
  const troupe = await startWith(t, {
    agents,
    settings: { mailbox: { retry_base_ms: 1, retry_cap_ms: 1 } },
  });
  troupe.models.steps.push(...Array.from({ length: 10 }, () => failing('busy')), says('hi'));
  const value = 'inference failed: rate limited: busy';
  const events = await troupe.runToEnd(say('own'));
  t.match(endOf(events), { termination: { type: 'error', value } });
  const reset = { reason: 'resumed from checkpoint', error: value };
  const attempts = [2, 3, 4, 5].map((attempt) => ({ ...reset, attempt, max_attempts: 5 }));
  t.match(only(events, 'stream_reset'), attempts);
  t.match(endOf(await troupe.runToEnd(say('own'))), { termination: { type: 'natural_end' } });
  troupe.models.steps.push(...Array.from({ length: 50 }, () => failing('busy')));
  for (let run = 0; run < 5; run += 1) await troupe.runToEnd(say('own'));
  troupe.models.steps.splice(0, troupe.models.steps.length, says('hi'));
  t.match(endOf(await troupe.runToEnd(say('own'))), { termination: { type: 'natural_end' } });
});

t.test('ends the run when a provider requests a longer delay than allowed', async (t) => {
  const troupe = await startWith(t, { agents, settings: { models: { max_retry_after_ms: 1000 } } });
  troupe.models.steps.push(failing('busy', { retryAfterSeconds: 2 }), says('not asked for'));
  const value = 'inference failed: rate limited: busy (it asks to wait 2 s, and no more than 1 s are waited)';
  t.match(endOf(await troupe.runToEnd(say('own'))), { termination: { type: 'error', value } });
  t.equal(requestsOf(troupe).length, 1);
});

t.test('logs each failed attempt in one short line', async (t) => {
  const lines: string[] = [];
  const write = (line: string): void => {
    // The log also warns that the test directory is open to other users.
    if (!line.includes('open to other users')) lines.push(line);
  };
  const log = createLog({ level: 'warn', destination: { write } });
  const troupe = await startDemo(t, {
    settings: { mailbox: { retry_base_ms: 1, retry_cap_ms: 1 } },
    app: { records: entriesFrom({ agents }), log },
  });
  const words = `Oops ${'x'.repeat(5_000_000)}`;
  const broken: Inference = () => {
    throw new Error(words);
  };
  troupe.models.steps.push(...Array.from({ length: 8 }, () => failing(words)), broken);
  const events = await troupe.runToEnd(say('own', 'x', 'T'));
  t.equal(lines.length, 5);
  for (const line of lines) t.ok(line.length < 5000, `${line.length} characters`);
  const [first = '', , , , last = ''] = lines;
  t.match(JSON.parse(first), {
    event: 'run.inference_failed',
    err: { class: 'rate_limited', message: /Oops x/ },
  });
  t.equal(first.match(/Oops/g)?.length, 1);
  t.match(JSON.parse(last).err.stack, /Oops/);
  t.ok(JSON.stringify(events).length < 50_000, 'events for clients are short too');
  t.ok(JSON.stringify(await viewOf(troupe, 'T').runs()).length < 50_000, 'records are short too');
});

t.test('measures durations independently of changes to the system clock', async (t) => {
  const DAY = 86_400_000;
  let set = 0;
  const clock = { now: () => Date.now() + set, monotonic: () => performance.now() };
  const troupe = await startDemo(t, { app: { records: entriesFrom({ agents }), clock } });
  const setClock: Inference = (sink) => {
    set += DAY;
    sink.text('hi');
    return { stop: 'EndTurn' };
  };
  const setBack: Inference = (sink) => {
    set -= 2 * DAY;
    sink.text('hi');
    return { stop: 'EndTurn' };
  };
  for (const act of [setClock, setBack]) {
    troupe.models.steps.push(act);
    const events = await troupe.runToEnd(say('own'));
    const lasted = Number(only(events, 'inference_complete')[0]?.duration_ms);
    t.ok(lasted >= 0 && lasted < DAY / 2, `${lasted} ms`);
  }
  const metrics = await (await fetch(`${troupe.url}/metrics`)).text();
  const sums = metrics.split('\n').filter((line) => /duration_seconds_sum|runtime_seconds_sum/.test(line));
  t.ok(sums.length > 0);
  for (const line of sums) t.ok(Math.abs(Number(line.split(' ').at(-1))) < 40_000, line);
});
