import t from 'tap';
import { z } from 'zod';
import { defineClientTool, defineTool } from '../../../src/tools/define-tool.ts';
import { calls, type Evals, only, says, startEvals } from './evals.ts';

/** Tool calls in live runs: not offered, answered from recordings, or executed. */

const toolbox = () => {
  const executed: string[] = [];
  const tool = (id: string, needsApproval = false) =>
    defineTool({
      id,
      description: `does ${id}`,
      input: z.object({ city: z.string().optional() }),
      needsApproval,
      async execute({ city = '' }) {
        executed.push(`${id} ${city}`);
        return { data: `${id} really did ${city}` };
      },
    });
  const ask = defineClientTool({ id: 'pick_color', description: 'asks', input: z.object({}) });
  return { executed, tools: [tool('weather'), tool('pay', true), ask] };
};

const withAgent = async ({ ask }: Evals, more: object = {}): Promise<void> => {
  const spec = { id: 'worker', model_id: 'm1', system_prompt: 'Work.', ...more };
  const { status, body } = await ask('POST', '/v1/config/agents', spec);
  if (status !== 201) throw new Error(JSON.stringify(body));
};

const run = (tools?: string) => ({
  dataset_id: 'D',
  models: ['m1'],
  agent_id: 'worker',
  ...(tools !== undefined && { tools }),
});

t.test('offers no tools of the agent by default', async (t) => {
  const { executed, tools } = toolbox();
  const evals = await startEvals(t, { app: { tools } });
  await withAgent(evals);
  await evals.dataset('D', [{ id: 'f', user_input: 'Hello' }]);
  evals.speak('m1', calls('c', 'weather', { city: 'Rome' }), says('done'));
  const report = only(await evals.evaluate(run()));
  t.match(report, { tool_count: 1, tool_failures: 1 });
  t.strictSame(evals.asked[0]?.request.tools, []);
  t.strictSame(executed, []);
});

t.test('answers recorded calls in order without executing tools', async (t) => {
  const { executed, tools } = toolbox();
  const evals = await startEvals(t, { app: { tools } });
  await withAgent(evals);
  const rome = { name: 'weather', arguments: { city: 'Rome' } };
  await evals.dataset('D', [
    {
      id: 'f',
      user_input: 'Hello',
      tool_results: [
        { ...rome, result: 'first' },
        { ...rome, result: 'second' },
        { name: 'weather', arguments: { city: 'Oslo' }, result: 'no such city', is_error: true },
      ],
      expect: {
        required_tool_calls: [
          {
            name: 'weather',
            args_subset: { city: 'Rome' },
            result_subset: 'first',
            count: { op: 'exactly', n: 1 },
          },
          {
            name: 'weather',
            args_subset: { city: 'Rome' },
            result_subset: 'second',
            count: { op: 'exactly', n: 1 },
          },
        ],
      },
    },
  ]);
  evals.speak(
    'm1',
    calls('c1', 'weather', { city: 'Rome' }),
    calls('c2', 'weather', { city: 'Rome' }),
    calls('c3', 'weather', { city: 'Rome' }),
    calls('c4', 'weather', { city: 'Oslo' }),
    says('done'),
  );
  const report = only(await evals.evaluate(run('recorded')));
  t.strictSame(report.failures, []);
  t.match(report, { final_text: 'done', tool_count: 4, tool_failures: 2 });
  const heard = JSON.stringify(evals.asked.at(-1)?.request.messages);
  for (const text of ['first', 'second', 'no recorded result', 'no such city'])
    t.ok(heard.includes(text), text);
  t.ok(evals.asked[0]?.request.tools.some(({ name }) => name === 'weather'));
  t.strictSame(executed, []);
});

t.test('executes tools on request, and denies calls that need approval', async (t) => {
  const { executed, tools } = toolbox();
  const evals = await startEvals(t, { app: { tools } });
  await withAgent(evals);
  await evals.dataset('D', [{ id: 'f', user_input: 'Hello' }]);
  evals.speak(
    'm1',
    calls('c1', 'weather', { city: 'Rome' }),
    calls('c2', 'pay', {}),
    calls('c3', 'pick_color', {}),
    says('done'),
  );
  const made = await evals.evaluate(run('execute'));
  t.match(only(made), {
    passed: true,
    final_text: 'done',
    tool_count: 3,
    tool_failures: 2,
    inference_count: 4,
  });
  t.strictSame(executed, ['weather Rome']);
  t.match(JSON.stringify(evals.asked.at(-1)?.request.messages), /Denied/);
  const trace = String((await evals.admin('GET', `/v1/traces/${made.items[0]?.trace_run_id}`)).body.text);
  t.strictSame(
    trace
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
      .filter(({ type }) => type === 'inference').length,
    4,
    'one trace contains the whole turn',
  );
});
