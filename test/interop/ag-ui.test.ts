import { HttpAgent } from '@ag-ui/client';
import t from 'tap';
import { ModelError } from '../../src/models/errors.ts';
import { quietly } from '../protocols/ag-ui/client.ts';
import { type AgUi, startAgUi, told } from '../service/ag-ui/ag-ui.ts';
import { says, seenIn, toolsIn } from '../service/agent-loop/agents.ts';
import { asks, hangs } from '../service/models.ts';
import { eventually } from '../service/troupe.ts';
import { viewOf } from '../service/view.ts';
import { converse, messagesFrom, VERSIONS } from './ag-ui-client.ts';

/** The official AG-UI clients against a real service (chat-and-agui.md 15, 16). */

const urlOf = (agUi: AgUi, agent = 'steps') => `${agUi.url}/v1/ag-ui/agents/${agent}/runs`;

const ask_user = { name: 'ask_user', description: 'Asks.', parameters: { type: 'object', properties: {} } };

const rolesOf = (messages: readonly { role: string }[]) => messages.map(({ role }) => role);

const lastRequest = (agUi: AgUi) => agUi.models.requests.at(-1)?.request;

for (const [version, Agent] of VERSIONS) {
  t.test(version, async (t) => {
    t.test('continues a conversation and stores each message once', async (t) => {
      const agUi = await startAgUi(t);
      const client = converse(Agent, urlOf(agUi, 'echo'));
      const first = await client.say('u1', 'one');
      t.match(first.result, { response: 'echo: one', status: 'done' });
      t.match(first.added, [{ role: 'assistant', content: 'echo: one' }]);
      await client.say('u2', 'two', { context: [{ description: 'page', value: 'cart' }] });
      t.strictSame(client.messages(), messagesFrom((await agUi.items('T')).messages));
      t.match(client.state(), { extensions: { '__runtime.run_lifecycle': { status: 'done' } } });
      const internal = await agUi.items('T', '?visibility=internal');
      t.equal(internal.total, 1, 'the context is stored, and the echoed state is not');
      await viewOf(agUi, 'T').check(t);
    });

    t.test('adds calls and their results to the conversation', async (t) => {
      const agUi = await startAgUi(t);
      agUi.models.steps.push(asks(['c1', 'note'], ['c2', 'note']), says('noted'));
      const client = converse(Agent, urlOf(agUi));
      const { added, error } = await client.say('u1', 'hi');
      t.equal(error, undefined);
      t.strictSame(rolesOf(added), ['assistant', 'tool', 'tool', 'assistant']);
      const ids = client.messages().map(({ id }) => id);
      t.equal(new Set(ids).size, 5);
      t.strictSame(
        ids,
        (await agUi.items('T')).messages.map(({ id }) => id),
      );
      agUi.models.steps.push(says('again'));
      await client.say('u2', 'more');
      t.equal((await agUi.items('T')).total, 7);
    });

    t.test('adds reasoning as a separate message', async (t) => {
      const agUi = await startAgUi(t);
      agUi.models.steps.push((sink) => {
        sink.reasoning('hmm');
        sink.text('yes');
        return { stop: 'EndTurn' };
      });
      const { added } = await converse(Agent, urlOf(agUi)).say('u1', 'hi');
      t.strictSame(rolesOf(added), ['reasoning', 'assistant']);
      t.match(added, [{ content: 'hmm' }, { content: 'yes' }]);
    });

    for (const [verdict, approved] of [
      ['approved', true],
      ['denied', false],
    ] as const) {
      t.test(`a call that needs approval is ${verdict}`, async (t) => {
        const agUi = await startAgUi(t);
        agUi.models.steps.push(asks(['c1', 'risky']), says('so be it'));
        const client = converse(Agent, urlOf(agUi));
        await client.say('u1', 'hi');
        t.match(client.interrupts(), [{ id: 'perm_c1', toolCallId: 'c1' }]);
        const { added, error } = await client.run({
          resume: [{ interruptId: 'perm_c1', status: 'resolved', payload: { approved } }],
        });
        t.equal(error, undefined);
        t.strictSame(client.interrupts(), []);
        t.match(added, [{ role: 'tool', toolCallId: 'c1' }, { role: 'assistant' }]);
        t.strictSame(agUi.tools.executed, approved ? ['c1'] : []);
        agUi.models.steps.push(says('on'));
        t.match(await client.say('u2', 'go on'), { error: undefined, added: [{ content: 'on' }] });
      });
    }

    t.test('continues with the result of a client tool', async (t) => {
      const agUi = await startAgUi(t);
      agUi.models.steps.push(asks(['c1', 'ask_user']), says('it is 42'));
      const client = converse(Agent, urlOf(agUi));
      const tools = [ask_user];
      const first = await client.say('u1', 'hi', { tools });
      t.strictSame(client.interrupts(), []);
      t.match(first.added, [{ role: 'assistant', toolCalls: [{ id: 'c1' }] }]);
      client.add({ id: 'mine', role: 'tool', toolCallId: 'c1', content: '42' });
      const second = await client.run({ tools });
      t.match(second, { error: undefined, added: [{ role: 'assistant', content: 'it is 42' }] });
      t.equal(rolesOf(client.messages()).filter((role) => role === 'tool').length, 1);
      t.match(seenIn(lastRequest(agUi)).at(-1), /42/);
      agUi.models.steps.push(says('and on'));
      t.match(await client.say('u2', 'more', { tools }), { error: undefined });
      t.ok(toolsIn(lastRequest(agUi)).includes('ask_user'));
      await viewOf(agUi, 'T').check(t);
    });

    t.test('reports errors to the application', async (t) => {
      const agUi = await startAgUi(t);
      agUi.models.steps.push(() => {
        throw new ModelError('invalid_request', 'the provider is unavailable');
      });
      t.match(await converse(Agent, urlOf(agUi)).say('u1', 'hi'), { error: /the provider is unavailable/ });
      t.match(await converse(Agent, urlOf(agUi, 'nope')).say('u1', 'hi'), { error: /agent not found: nope/ });
      const stale = converse(Agent, urlOf(agUi));
      const { error } = await stale.run({ resume: [{ interruptId: 'x', status: 'resolved' }] });
      t.match(error, /waits/);
    });

    t.test('does not store a partial completion, which the client may keep', async (t) => {
      const agUi = await startAgUi(t);
      agUi.models.steps.push(says('whole'), hangs('half an ans'), says('third'));
      const client = converse(Agent, urlOf(agUi));
      await client.say('u1', 'one');
      const seen = client.text();
      const second = client.say('u2', 'two');
      await seen;
      client.abort();
      await second;
      const view = viewOf(agUi, 'T');
      t.equal((await view.active())?.status, 'running', 'a disconnect does not cancel the run');
      t.equal((await agUi.post('/v1/ag-ui/threads/T/interrupt')).status, 202);
      await view.rest();
      t.match(await client.say('u3', 'three'), { error: undefined, added: [{ content: 'third' }] });
      t.strictSame(told(await agUi.items('T')), [
        'user: one',
        'assistant: whole',
        'user: two',
        'user: three',
        'assistant: third',
      ]);
      t.notMatch(JSON.stringify(lastRequest(agUi)), /frontend-context/);
    });

    t.test('accepts a decision from a second tab', async (t) => {
      const agUi = await startAgUi(t);
      agUi.models.steps.push(asks(['c1', 'risky']), says('done'));
      const first = converse(Agent, urlOf(agUi));
      await first.say('u1', 'hi');
      const second = converse(Agent, urlOf(agUi), 'T', messagesFrom((await agUi.items('T')).messages));
      const resume = [{ interruptId: 'perm_c1', status: 'resolved' as const, payload: { approved: true } }];
      t.match(await second.run({ resume }), {
        error: undefined,
        added: [{ role: 'tool' }, { content: 'done' }],
      });
      agUi.models.steps.push(says('late'));
      const late = await first.say('u2', 'still here', { resume });
      t.match(late, { error: undefined, added: [{ content: 'late' }] });
      t.strictSame(agUi.tools.executed, ['c1']);
      t.strictSame(told(await agUi.items('T')).slice(-2), ['user: still here', 'assistant: late']);
    });

    t.test('stores the message of two identical concurrent requests once, and runs one', async (t) => {
      const agUi = await startAgUi(t);
      const message = { id: 'u1', role: 'user' as const, content: 'hi' };
      const tabs = [1, 2].map(() => new Agent({ url: urlOf(agUi, 'echo'), threadId: 'T' }));
      for (const tab of tabs) tab.addMessage(message);
      const { error } = await quietly(async () => ({
        result: await Promise.all(tabs.map((tab) => tab.runAgent())),
      }));
      t.equal(error, undefined);
      const history = told(await agUi.items('T'));
      t.equal(history.filter((line) => line === 'user: hi').length, 1);
      t.equal(history.at(-1), 'assistant: echo: hi');
      await viewOf(agUi, 'T').check(t);
    });
  });
}

t.test('replays a thread as a conversation of the client', async (t) => {
  const agUi = await startAgUi(t);
  agUi.models.steps.push(asks(['c1', 'risky']), says('done'), says('bye'));
  const client = converse(HttpAgent, urlOf(agUi));
  await client.say('u1', 'hi');
  await client.run({ resume: [{ interruptId: 'perm_c1', status: 'resolved', payload: { approved: true } }] });
  await client.say('u2', 'thanks');
  const agent = new HttpAgent({
    url: `${agUi.url}/v1/ag-ui/threads/T/replay?limit=500`,
    threadId: 'T',
    fetch: (url) => fetch(url),
  });
  const { error } = await quietly(() => agent.runAgent());
  t.equal(error, undefined);
  const answers = client.messages().filter(({ role }) => role !== 'user');
  t.strictSame(agent.messages, answers);
});

t.test('accepts an approval after a restart', async (t) => {
  const agUi = await startAgUi(t);
  agUi.models.steps.push(asks(['c1', 'risky']), says('done'));
  const before = converse(HttpAgent, urlOf(agUi));
  await before.say('u1', 'hi');
  await agUi.restart();
  const client = converse(HttpAgent, urlOf(agUi), 'T', before.messages());
  const resume = [{ interruptId: 'perm_c1', status: 'resolved' as const, payload: { approved: true } }];
  t.match(await client.run({ resume }), { error: undefined, added: [{ role: 'tool' }, { content: 'done' }] });
  const runs = await eventually(
    () => viewOf(agUi, 'T').runs(),
    ([run]) => run?.status === 'done',
  );
  t.equal(runs.length, 1);
});
