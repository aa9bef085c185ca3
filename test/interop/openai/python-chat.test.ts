import t, { type Test } from 'tap';
import { asks, type Inference } from '../../service/models.ts';
import { countRuns, startChat } from '../../service/openai/chat.ts';
import { openPython, type Python } from '../python.ts';

/** The official clients of Python over chat completions: `openai`, LangChain, the Agents SDK. */

const python = await openPython('openai-python');

const RED: Inference = (sink) => {
  sink.text('{"color":"red"}');
  return { stop: 'EndTurn' };
};
const PICK = asks(['c1', 'pick', { color: 'red' }]);
const DONE: Inference = (sink) => {
  sink.text('done');
  return { stop: 'EndTurn' };
};

/** The observations of the program, by the name of the step, and the number of runs. */
const walk = async (t: Test, { start }: Python) => {
  const { troupe } = await startChat(t);
  troupe.models.steps.push(RED, PICK, DONE, RED, PICK, DONE);
  const seen: Record<string, unknown> = {};
  for await (const { step, ...what } of start(t, 'chat.py', [troupe.url]).lines()) {
    if (typeof step === 'string') seen[step] = what;
  }
  return { seen, runs: await countRuns(troupe) };
};

if (typeof python === 'string') t.plan(0, python);
else {
  const { seen, runs } = await walk(t, python);
  const step = (name: string, what: object): unknown =>
    t.test(name, async (t) => void t.match(seen[name], what));

  step('models', { ids: /^(?:.*,)?echo,/ });
  step('completion', { text: 'echo: hi', total: 30 });
  step('stream', { text: 'echo: hi', reason: 'stop' });
  step('parse', { color: 'red' });
  step('unknown', { code: 'model_not_found', param: 'model' });
  step('langchain tools', { calls: ['pick'], text: 'done' });
  step('langchain stream', { text: 'echo: hi', total: 30 });
  step('langchain structured', { color: 'red' });
  step('agents tools', { text: 'done' });
  step('agents stream', { text: 'echo: hi' });
  t.test('runs once for each request, and continues runs with results', async (t) => {
    t.equal(runs, 8);
  });
}
