import { setImmediate as nextTurn } from 'node:timers/promises';
import t from 'tap';
import type { ProviderSpec } from '../../src/schema/model.ts';
import { Invalid } from '../../src/schema/outcome.ts';
import { eventually } from '../service/troupe.ts';
import { createProvider } from './create-provider.ts';
import { type Heard, infer, inferenceFailure, recordingSink, requestOf } from './infer.ts';

const scripted = (adapter_options: NonNullable<ProviderSpec['adapter_options']>, upstream_model = 'bench') =>
  createProvider({ id: 'p', adapter: 'scripted', adapter_options }, {}).model({
    id: 'm',
    provider_id: 'p',
    upstream_model,
  });

const pending = (): string[] =>
  process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout' || kind === 'Immediate');

const never = new AbortController().signal;

t.test('sends all deltas before stream returns if there is no pace', async (t) => {
  const heard: Heard[] = [];
  const ended = scripted({ script: { tokens: 3 } }).stream(requestOf('x'), recordingSink(heard), never);
  t.same(heard, [
    ['text', 'token '],
    ['text', 'token '],
    ['text', 'token '],
  ]);
  t.same(await ended, {
    stop: 'EndTurn',
    usage: { prompt_tokens: 10, completion_tokens: 3, total_tokens: 13 },
  });
});

t.test('a script ignores the prompt, including directives', async (t) => {
  const { heard } = await infer(
    scripted({ script: { tokens: 1, text: 'hi' } }),
    requestOf('RUN_WEATHER_TOOL'),
  );
  t.same(heard, [['text', 'hi']]);
});

t.test('a script of zero tokens ends immediately', async (t) => {
  const { heard, end } = await infer(scripted({ script: { tokens: 0 } }), requestOf('x'));
  t.same(heard, []);
  t.match(end, { stop: 'EndTurn', usage: { completion_tokens: 0, total_tokens: 10 } });
});

t.test('per_turn limits the deltas of an event-loop tick', async (t) => {
  const heard: Heard[] = [];
  const ended = scripted({ script: { tokens: 5, per_turn: 2 } }).stream(
    requestOf('x'),
    recordingSink(heard),
    never,
  );
  const counts = [heard.length];
  for (let turn = 0; turn < 2; turn += 1) {
    await nextTurn();
    counts.push(heard.length);
  }
  t.same(counts, [2, 4, 5]);
  await ended;
});

t.test('sends no delta before it is due', async (t) => {
  const at: number[] = [];
  const started = performance.now();
  await scripted({ script: { tokens: 4, delay_ms: 5, first_delay_ms: 10, gap_every: 2, gap_ms: 20 } }).stream(
    requestOf('x'),
    { ...recordingSink([]), text: () => at.push(performance.now() - started) },
    never,
  );
  const due = [10, 15, 40, 45];
  t.equal(at.length, 4);
  t.ok(
    at.every((ms, index) => ms >= (due[index] ?? 0)),
    `given at ${at}`,
  );
});

t.test('selects the script by upstream model', async (t) => {
  const options = { scripts: { bench: { tokens: 2 }, long: { tokens: 4 } }, script: { tokens: 1 } };
  const tokens = async (upstream: string, override?: string) => {
    const overrides = override === undefined ? {} : { upstream_model: override };
    return (await infer(scripted(options, upstream), requestOf('x', { overrides }))).heard.length;
  };
  t.equal(await tokens('bench'), 2);
  t.equal(await tokens('long'), 4);
  t.equal(await tokens('other'), 1);
  t.equal(await tokens('bench', 'long'), 4);
});

t.test('uses the built-in responses for an upstream model without a script', async (t) => {
  const { heard } = await infer(
    scripted({ scripts: { bench: { tokens: 2 } } }, 'toString'),
    requestOf('Hello'),
  );
  t.same(heard, [['text', 'Scripted response to: Hello']]);
});

const paces: [name: string, script: Record<string, number>][] = [
  ['waits for a timer', { tokens: 10, delay_ms: 60_000 }],
  ['waits for the next turn', { tokens: 10, per_turn: 1 }],
];
for (const [name, script] of paces) {
  t.test(`a cancel ends a script that ${name}, and clears its timer`, async (t) => {
    const before = pending();
    const abort = new AbortController();
    const failing = inferenceFailure(scripted({ script }), requestOf('x'), abort.signal);
    abort.abort();
    const { heard, error } = await failing;
    t.equal(error.class, 'cancelled');
    await nextTurn();
    t.equal(heard.length, 1);
    // Other code in the process may have pending immediates too, which pass.
    await eventually(
      async () => pending().length,
      (count) => count <= before.length,
    );
  });
}

t.test('a cancel from within the sink stops a burst', async (t) => {
  const abort = new AbortController();
  let given = 0;
  const ended = scripted({ script: { tokens: 10 } }).stream(
    requestOf('x'),
    {
      ...recordingSink([]),
      text: () => {
        given += 1;
        if (given === 3) abort.abort();
      },
    },
    abort.signal,
  );
  await t.rejects(ended, { message: 'cancelled' });
  t.equal(given, 3);
});

t.test('a sink that throws in a later tick fails the inference', async (t) => {
  let given = 0;
  const ended = scripted({ script: { tokens: 10, per_turn: 1 } }).stream(
    requestOf('x'),
    {
      ...recordingSink([]),
      text: () => {
        given += 1;
        if (given === 2) throw new Error('full');
      },
    },
    never,
  );
  await t.rejects(ended, { message: 'full' });
  await nextTurn();
  t.equal(given, 2);
});

t.test('rejects a malformed script and names its key', async (t) => {
  t.throws(
    () => scripted({ script: { tokens: -1 } }),
    new Invalid('adapter_options.script.tokens: must be at least 0'),
  );
  t.throws(
    () => scripted({ scripts: { bench: { tokens: 1, speed: 2 } } }),
    new Invalid("adapter_options.scripts.bench: unknown field 'speed'"),
  );
});
