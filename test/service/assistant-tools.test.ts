import t from 'tap';
import { MODEL, respond, says, startAssistant, toolPart, user, wants } from '../assistant/chat.ts';
import { asks } from './models.ts';

/** The tools of the admin assistant, and the calls that require an approval (config.md 11.4). */

t.test('creates an agent once the user approves the call, with the caller as the actor', async (t) => {
  const { steps, chat, exists, audited, heard, logged } = await startAssistant(t);
  steps.push(wants);
  const asked = await chat([user('make a counter')]);
  t.match(toolPart(asked), { state: 'approval-requested', approval: { id: 'perm_c1' } });
  t.equal(await exists('counter'), false);
  t.strictSame(logged(), []);

  steps.push(says('it is there'));
  const done = await chat(respond(asked, true));
  t.equal(done.length, 2);
  t.match(toolPart(done), {
    state: 'output-available',
    output: { ok: true, published: true, agent: { id: 'counter', model_id: MODEL } },
  });
  t.match(
    done.at(-1)?.parts.findLast(({ type }) => type === 'text'),
    { text: 'it is there' },
  );
  t.equal(await exists('counter'), true);
  t.match(await audited('agents/counter'), {
    items: [{ action: 'create', actor: /^[0-9a-f]{16}$/, after: { id: 'counter' } }],
  });
  t.match(heard().at(-1), /^tool: .*"published":true/);
  t.match(logged(), [
    {
      tool: 'admin_create_agent',
      call_id: 'c1',
      agent_id: '__admin_assistant',
      run_id: String,
      thread_id: String,
    },
  ]);

  const later = await chat([...done, user('thanks')]);
  t.equal(later.length, 4);
  t.equal(heard().filter((line) => line.startsWith('tool: ')).length, 1);
  t.equal(logged().length, 1);
});

t.test('creates no agent when the user denies the call, and reports the denial to the model', async (t) => {
  const { steps, chat, exists, audited, heard, logged } = await startAssistant(t);
  steps.push(wants);
  const asked = await chat([user('make a counter')]);
  steps.push(says('as you wish'));
  const done = await chat(respond(asked, false));
  t.match(toolPart(done), { state: 'output-denied' });
  t.match(heard().at(-1), /^tool: Denied/);
  const later = await chat([...done, user('and now?')]);
  t.equal(later.length, 4);
  t.ok(heard().some((line) => line.startsWith('tool: Denied')));
  t.equal(await exists('counter'), false);
  t.strictSame(await audited('agents/counter'), { items: [] });
  t.strictSame(logged(), []);
});

t.test('creates no agent when the user sends another message instead of a decision', async (t) => {
  const { steps, chat, exists, heard } = await startAssistant(t);
  steps.push(wants);
  const asked = await chat([user('make a counter')]);
  const done = await chat([...asked, user('wait')]);
  t.equal(done.length, 4);
  t.strictSame(heard(), ['user: make a counter', 'user: wait']);
  t.equal(await exists('counter'), false);
});

t.test('applies an approval that arrives together with a new message', async (t) => {
  const { steps, chat, exists } = await startAssistant(t);
  steps.push(wants);
  const asked = await chat([user('make a counter')]);
  steps.push(says('done'));
  const done = await chat([...respond(asked, true), user('and hurry')]);
  t.match(toolPart(done), { state: 'output-available' });
  t.equal(await exists('counter'), true);
});

t.test('rejects an agent that the registry would reject, with the reason', async (t) => {
  const { steps, chat, exists } = await startAssistant(t);
  steps.push(asks(['c1', 'admin_create_agent', { agent: { id: 'lost', model_id: 'nowhere' } }]));
  const asked = await chat([user('make it')]);
  const done = await chat(respond(asked, true));
  t.match(toolPart(done), {
    output: { ok: false, published: false, errors: [/references missing model 'nowhere'/] },
  });
  t.equal(await exists('lost'), false);
});

t.test('validates a draft without storing it', async (t) => {
  const { steps, chat, exists } = await startAssistant(t);
  steps.push(asks(['c1', 'admin_create_agent_draft', { intent: 'count things', id: 'counter' }]));
  const drafted = await chat([user('draft it')]);
  t.match(toolPart(drafted), {
    state: 'output-available',
    output: { ok: true, published: false, draft: { id: 'counter', model_id: MODEL } },
  });
  t.equal(await exists('counter'), false);
});

t.test('gives the assistant the capabilities without its own tools', async (t) => {
  const { steps, chat, answer } = await startAssistant(t);
  steps.push(asks(['c1', 'admin_get_platform_capabilities']));
  const told = await chat([user('what is there?')]);
  const { body } = await answer('GET', '/v1/capabilities');
  const part = toolPart(told);
  t.same('output' in part ? part.output : undefined, body);
  t.match(body, { admin_assistant: { enabled: true, model_id: MODEL, config: { model_id: null } } });
  const { admin_assistant: _, ...rest } = Object(body);
  t.notMatch(JSON.stringify(rest), /admin_create_agent|__admin_assistant/);
});

t.test('denies its tools to other agents, and rejects runs of the assistant by its id', async (t) => {
  const { send, answer, requests } = await startAssistant(t);
  const sly = {
    id: 'sly',
    model_id: MODEL,
    allowed_tools: ['admin_create_agent'],
    allowed_tool_patterns: ['*admin*'],
  };
  t.equal((await answer('POST', '/v1/config/agents', sly)).status, 201);
  const messages = [{ role: 'user', content: 'hi' }];
  await (await send('POST', '/v1/runs', { agentId: 'sly', messages })).text();
  t.strictSame(requests.at(-1)?.tools, []);
  t.match(await answer('GET', '/v1/agents/sly/permission-preview'), { body: { candidate_tools: [] } });
  t.match(await answer('POST', '/v1/runs', { agentId: '__admin_assistant', messages }), {
    status: 400,
    body: { error: /agent not found: __admin_assistant/ },
  });
});
