import t, { type Test } from 'tap';
import { asks, type Inference } from '../../service/models.ts';
import { countRuns, startChat } from '../../service/openai/chat.ts';
import { openPython, type Python } from '../python.ts';

/** The official clients of Python over responses: `openai`, LangChain, the Agents SDK. */

const python = await openPython('openai-python');

const RED: Inference = (sink) => {
  sink.text('{"color":"red"}');
  return { stop: 'EndTurn' };
};
const PICK = asks(['c1', 'pick', { color: 'red' }]);
const NOTE = asks(['c1', 'note']);
const RISK = asks(['c1', 'risky']);
const HAND_OFF = asks(['c1', 'transfer_to_target', {}]);
const DONE: Inference = (sink) => {
  sink.text('done');
  return { stop: 'EndTurn' };
};

/** The observations of the program, by the name of the step, and the number of runs. */
const walk = async (t: Test, { start }: Python) => {
  const { troupe, tools } = await startChat(t);
  troupe.models.steps.push(RED, PICK, DONE);
  troupe.models.steps.push(PICK, DONE, RED, NOTE, DONE);
  troupe.models.steps.push(PICK, DONE, NOTE, DONE, RISK, DONE, RISK, DONE, HAND_OFF);
  const seen: Record<string, unknown> = {};
  for await (const { step, ...what } of start(t, 'responses.py', [troupe.url]).lines()) {
    if (typeof step === 'string') seen[step] = what;
  }
  return { seen, runs: await countRuns(troupe), executed: tools.executed.length, left: troupe.models.steps };
};

if (typeof python === 'string') t.plan(0, python);
else {
  const { seen, runs, executed, left } = await walk(t, python);
  const step = (name: string, what: object, check = ''): unknown =>
    t.test(`${name}${check}`, async (t) => void t.match(seen[name], what));

  step('stream', { text: 'echo: hi', first: 'response.created', last: 'response.completed', same: true });
  step('parse', { color: 'red' }, ' (check 60)');
  step('reconnect', { first: 3 }, ' (check 52)');
  step('function', { name: 'pick', text: 'done' }, ' (check 45)');
  step('file', { text: 'hello', listed: true, item: true }, ' (check 63)');
  step('file missing', { status: 400, param: 'input[0].content[0]' });
  step('file deleted', { deleted: true, status: 404 });
  step('conversation', { roles: ['user', 'user', 'assistant'], topic: 'a' }, ' (check 61)');
  step('errors', {
    missing: { status: 404 },
    model: { status: 404, code: 'model_not_found', param: 'model' },
    invalid: { status: 400, param: 'temperature' },
    locked: { status: 409, code: 'conversation_locked' },
  });
  step('background', { status: /^(?:queued|in_progress)$/, cancelled: 'cancelled' }, ' (check 51)');
  step('abort', { status: 'cancelled' }, ' (check 51)');
  step('langchain tools', { calls: ['pick'], text: 'done' });
  step('langchain history', { text: 'echo: two' });
  step('langchain chain', { text: 'echo: two' });
  step('langchain stream', { text: 'echo: hi', total: 30 });
  step('langchain structured', { color: 'red' });
  step('langchain own tool', { calls: [], text: 'done' }, ' (check 42)');
  step('agents tools', { text: 'done' }, ' (check 45)');
  step('agents own tool', { text: 'done' }, ' (check 42)');
  step('agents thread', { text: 'echo: three', threads: 1 });
  step('agents history', { text: 'echo: two', same: true, changed: true }, ' (check 49)');
  step('agents sessions', { text: 'echo: two', same: true, items: 4 });
  step('agents approve', { text: 'done', asked: 1 }, ' (check 46)');
  step('agents reject', { text: 'done', asked: 1 }, ' (check 46)');
  step('agents handoff', { text: 'echo: hi', agent: 'target' });
  t.test('executes each call of the agent once, and consumes every step', async (t) => {
    t.equal(executed, 3);
    t.strictSame(left, []);
    t.equal(runs, 30);
  });
}
