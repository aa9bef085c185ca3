import t, { type Test } from 'tap';
import { when } from '../http/serve.ts';
import { startWebhook, stateIn } from '../protocols/a2a/webhook.ts';
import { asks } from '../service/models.ts';
import { withTools } from '../service/suspended.ts';
import { openPython, type Python } from './python.ts';

/** The Python client of the A2A project performs every operation against this service (a2a.md 17, check 61). */

const python = await openPython('a2a-python');

/** The observations of the program, by the name of the step. */
const walk = async (t: Test, { start }: Python) => {
  const { troupe } = await withTools(t, { settings: { default_agent_id: 'echo' } });
  const hook = await startWebhook(t);
  troupe.models.steps.push(asks(['c1', 'pick_color']));
  const program = start(t, 'client.py', [troupe.url, hook.url]);
  const seen: Record<string, unknown> = {};
  for await (const { step, do: wanted, ...what } of program.lines()) {
    if (typeof step === 'string') seen[step] = what;
    if (wanted === 'release') troupe.models.release();
    if (wanted === 'webhook') {
      await when(() => hook.calls.some((call) => stateIn(call) === 'COMPLETED'));
      program.child.stdin.end(hook.calls.map(({ body }) => `${JSON.stringify(body)}\n`).join(''));
    }
  }
  return { seen, url: troupe.url };
};

if (typeof python === 'string') t.plan(0, python);
else {
  const { seen, url } = await walk(t, python);
  const step = (name: string, what: object): unknown =>
    t.test(name, async (t) => void t.strictSame(seen[name], what));

  step('card', { name: 'echo', url: `${url}/v1/a2a` });
  step('send', { state: 'COMPLETED', said: ['Hello', 'echo: Hello'], artifact: 'echo: Hello' });
  step('send without waiting', { state: 'SUBMITTED' });
  step('get', { state: 'COMPLETED' });
  step('get with less history', { said: ['echo: Hello'] });
  step('turns', {
    said: [
      ['one', 'echo: one'],
      ['two', 'echo: two'],
    ],
    contexts: ['c', 'c'],
  });
  step('question', {
    states: ['INPUT_REQUIRED', 'COMPLETED'],
    said: ['Paint it', 'blue', 'echo: blue'],
    same: true,
  });
  step('list', {
    pages: [[['echo: three']], [['echo: two']], [['echo: one']]],
    total: 3,
    of_tenant: 1,
  });
  step('stream', { states: ['SUBMITTED', 'WORKING', 'COMPLETED'], text: 'echo: stream' });
  step('subscribe', { first: 'WORKING', states: ['COMPLETED'], text: 'partial answer' });
  step('cancel', { state: 'CANCELED' });
  step('push', { url: true, before: 2, after: 1, deleted: 'no error' });
  step('errors', {
    unknown: 'TaskNotFoundError',
    over: 'TaskNotCancelableError',
    subscribed: 'UnsupportedOperationError',
    said: 'UnsupportedOperationError',
    pushed: 'InvalidParamsError',
    modes: 'ContentTypeNotSupportedError',
    agent: 'MethodNotFoundError',
  });
  t.test('webhook', async (t) => {
    t.strictSame(
      [...new Set(Object.values(seen.webhook ?? {}).flat())].sort(),
      ['artifact_update', 'status_update'],
      'all events of the webhook belong to the protocol',
    );
  });
}
