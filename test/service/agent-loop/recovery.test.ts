import t from 'tap';
import { ModelError } from '../../../src/models/errors.ts';
import { type EntriesInput, entriesFrom } from '../../../src/settings.ts';
import { createLog } from '../../../src/telemetry/log.ts';
import type { Tool } from '../../../src/tools/tool.ts';
import { asks, type Inference } from '../models.ts';
import { startDemo } from '../troupe.ts';
import { viewOf } from '../view.ts';
import { endOf, only, requestsOf, resultsIn, say, says, seenIn, startWith, textIn, types } from './agents.ts';

/** Answers that break off, are cut off or fail: agent-loop.md 6, 9.3 to 9.5. */

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

t.test('a stream that breaks off in its text goes on from there, and readers see one answer', async (t) => {
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

t.test('a stream that breaks off with nothing of use starts over, and readers are told', async (t) => {
  const troupe = await startWith(t, { agents });
  troupe.models.steps.push(breaksOff(call('lost', false)), says('new'));
  const events = await troupe.runToEnd(say('own', 'x', 'T'));
  t.match(only(events, 'stream_reset'), [{ reason: 'connection reset' }]);
  t.match(endOf(events), { termination: { type: 'natural_end' }, result: { response: 'new' } });
  t.strictSame(only(events, 'tool_call_done'), []);
  t.strictSame(await viewOf(troupe, 'T').texts(), ['user: x', 'assistant: new']);
});

t.test('a call that breaks off behind text is cancelled, and the text goes on', async (t) => {
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

t.test(
  'complete calls of a broken stream are executed, and the model is told which one was lost',
  async (t) => {
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
  },
);

t.test(
  'a stream that breaks off too often fails, and the attempt is repeated in the same stream',
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

t.test('an opening that fails is tried again without a word', async (t) => {
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

t.test('an answer that is cut off is continued as often as the agent says, and then stands', async (t) => {
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
  t.test(`a call that is cut off behind '${begun}' is not executed`, async (t) => {
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

t.test('calls that came whole before the cut are executed, and their results go on', async (t) => {
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
  t.equal((await viewOf(troupe, 'T').messages('&visibility=internal')).length, 0, 'nothing is asked again');
  await viewOf(troupe, 'T').check(t);
});

t.test('arguments that are no JSON or do not fit the tool are told to the model', async (t) => {
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

t.test('arguments of a tool that does not check them itself are checked against its schema', async (t) => {
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

t.test('calls of one message that share an id are told apart', async (t) => {
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

t.test('what a model calls its calls is mended: ids are unique, and nothing is blank', async (t) => {
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

t.test('arguments that nest too deep are told to the model', async (t) => {
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

t.test('runs that fail by a rate limit keep no other run from its model', async (t) => {
  const troupe = await startWith(t, {
    agents,
    settings: { mailbox: { retry_base_ms: 1, retry_cap_ms: 1 } },
  });
  troupe.models.steps.push(...Array.from({ length: 10 }, () => failing('busy')), says('hi'));
  const value = 'inference failed: rate limited: busy';
  const events = await troupe.runToEnd(say('own'));
  t.match(endOf(events), { termination: { type: 'error', value } });
  const reset = { reason: 'resumed from checkpoint', error: value };
  t.match(only(events, 'stream_reset'), [reset, reset, reset, reset]);
  t.match(endOf(await troupe.runToEnd(say('own'))), { termination: { type: 'natural_end' } });
  troupe.models.steps.push(...Array.from({ length: 50 }, () => failing('busy')));
  for (let run = 0; run < 5; run += 1) await troupe.runToEnd(say('own'));
  troupe.models.steps.splice(0, troupe.models.steps.length, says('hi'));
  t.match(endOf(await troupe.runToEnd(say('own'))), { termination: { type: 'natural_end' } });
});

t.test('a provider that asks for a longer wait than the service grants ends the run', async (t) => {
  const troupe = await startWith(t, { agents, settings: { models: { max_retry_after_ms: 1000 } } });
  troupe.models.steps.push(failing('busy', { retryAfterSeconds: 2 }), says('not asked for'));
  const value = 'inference failed: rate limited: busy (it asks to wait 2 s, and no more than 1 s are waited)';
  t.match(endOf(await troupe.runToEnd(say('own'))), { termination: { type: 'error', value } });
  t.equal(requestsOf(troupe).length, 1);
});

t.test('each failed attempt is one short line of the log, which says it once', async (t) => {
  const lines: string[] = [];
  const write = (line: string): void => {
    // The folder of a test is open to other users, and the log says so too.
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
    msg: 'an inference failed',
    err: { class: 'rate_limited', message: /Oops x/ },
  });
  t.equal(first.match(/Oops/g)?.length, 1);
  t.match(JSON.parse(last).err.stack, /Oops/);
  t.ok(JSON.stringify(events).length < 50_000, 'and no longer for clients');
  t.ok(JSON.stringify(await viewOf(troupe, 'T').runs()).length < 50_000, 'nor in the record');
});

t.test('a clock that is set while something lasts makes it no longer', async (t) => {
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
