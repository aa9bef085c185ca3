import t from 'tap';
import { ASSISTANT_ID } from '../../src/assistant/agent.ts';
import { BOUND_TOOLS, type BoundToolDeps, boundTools } from '../../src/assistant/tools.ts';
import { Invalid } from '../../src/schema/outcome.ts';
import type { Json } from '../../src/tools/tool.ts';
import { callTool } from '../tools/call.ts';
import { CALLER, memoryConfig } from './config.ts';

const start = (changes: Partial<BoundToolDeps['config']> = {}) => {
  const memory = memoryConfig();
  const logged: { level: string; event: string; data?: object }[] = [];
  const tools = boundTools({
    config: { ...memory.config, ...changes },
    caller: CALLER,
    model_id: 'm',
    agent_id: ASSISTANT_ID,
    mask: (text) => text.replaceAll('sk-secret', '***'),
    log: {
      info: (event, data = {}) => logged.push({ level: 'info', event, data }),
      error: (event, data = {}) => logged.push({ level: 'error', event, data }),
    },
  });
  const tool = (id: keyof typeof BOUND_TOOLS) => {
    const found = tools.find(({ descriptor }) => descriptor.id === id);
    if (!found) throw new Error(`no tool ${id}`);
    return found;
  };
  return {
    ...memory,
    tools,
    logged,
    tool,
    call: (id: keyof typeof BOUND_TOOLS, args: Json) => callTool(tool(id), args),
  };
};

t.test('there are four tools, and each accepts a closed object', async (t) => {
  const { tools } = start();
  t.strictSame(
    tools.map(({ descriptor }) => descriptor.id),
    Object.keys(BOUND_TOOLS),
  );
  for (const { descriptor } of tools) {
    t.match(descriptor.parameters, { type: 'object', additionalProperties: false }, descriptor.id);
    t.notOk('anyOf' in descriptor.parameters);
  }
});

t.test('returns the capabilities unchanged', async (t) => {
  const { call } = start();
  t.match(await call('admin_get_platform_capabilities', {}), { status: 'success', data: { agents: [] } });
  t.match(await call('admin_get_platform_capabilities', { all: true }), { status: 'error' });
});

t.test('validates a draft without storing it', async (t) => {
  const { call, agents, audited } = start();
  const { data } = await call('admin_create_agent_draft', {
    intent: 'count things',
    allowed_tools: ['note'],
  });
  t.match(data, { ok: true, published: false, draft: { model_id: 'm', allowed_tools: ['note'] } });
  t.strictSame(Object.keys(Object(data)).sort(), ['draft', 'next_step', 'ok', 'published']);
  t.equal(agents.size, 0);
  t.strictSame(audited, []);
});

t.test('returns an invalid draft with its errors', async (t) => {
  const { call, agents } = start();
  await call('admin_create_agent', { agent: { id: 'taken' } });
  t.match(await call('admin_create_agent_draft', { intent: 'x', id: 'taken' }), {
    status: 'success',
    data: {
      ok: false,
      published: false,
      draft: { id: 'taken' },
      errors: ['conflict: agents/taken already exists'],
    },
  });
  t.equal(agents.size, 1);
});

t.test('validation answers with the normal form or the errors', async (t) => {
  const { call, agents } = start();
  const { data } = await call('admin_validate_agent', { agent: { id: 'a', max_rounds: 3 } });
  t.match(data, {
    ok: true,
    normalized: { id: 'a', backend: { kind: 'local' }, max_rounds: 3 },
    warnings: [],
  });
  const wrong = await call('admin_validate_agent', { agent: { id: 'a', max_rounds: -3 } });
  t.strictSame(Object.keys(Object(wrong.data)), ['ok', 'errors']);
  t.match(wrong.data, { ok: false, errors: [/^invalid payload: /] });
  const other = await call('admin_validate_agent', { agent: { id: 'a' }, id: 'b' });
  t.match(other.data, { ok: false, errors: ["invalid payload: path id 'b' does not match body id 'a'"] });
  t.equal(agents.size, 0);
});

t.test('creation asks for confirmation first', async (t) => {
  const { tool, tools } = start();
  const call = { id: 'c1', name: 'admin_create_agent', arguments: { intent: 'x' } };
  t.match(await tool('admin_create_agent').gate?.(call), {
    kind: 'suspend',
    ticket: { suspension: { id: 'perm_c1' }, resume_mode: 'replay_tool_call' },
  });
  t.equal(tools.filter(({ gate }) => gate).length, 1);
});

t.test('creation from an intent or a specification stores the agent on behalf of the caller', async (t) => {
  const { call, agents, audited } = start();
  const byIntent = await call('admin_create_agent', { intent: 'count things', id: 'counter' });
  t.match(byIntent.data, {
    ok: true,
    published: true,
    agent: { id: 'counter', model_id: 'm', max_rounds: 8 },
  });
  const bySpec = await call('admin_create_agent', { agent: { id: 'whole', model_id: 'x' } });
  t.match(bySpec.data, {
    ok: true,
    published: true,
    agent: { id: 'whole', model_id: 'x', max_rounds: 16 },
  });
  t.strictSame([...agents.keys()], ['counter', 'whole']);
  t.match(audited, [{ actor: 'tester', resource: 'agents/counter' }, { resource: 'agents/whole' }]);
});

t.test('creation requires either an intent or a specification', async (t) => {
  const { call, agents } = start();
  t.match(await call('admin_create_agent', {}), { status: 'error', message: /either 'intent' or 'agent'/ });
  t.match(await call('admin_create_agent', { intent: 'x', agent: { id: 'a' } }), {
    status: 'error',
    message: /no other argument/,
  });
  t.equal(agents.size, 0);
});

t.test('a rejection is a result without secrets, and an internal error is in the log', async (t) => {
  const refused = start({ create: () => Promise.reject(new Invalid('the key sk-secret is wrong')) });
  t.strictSame((await refused.call('admin_create_agent', { intent: 'x' })).data, {
    ok: false,
    published: false,
    errors: ['the key *** is wrong'],
  });
  t.strictSame(
    refused.logged.map(({ level }) => level),
    ['info'],
  );
  const broken = start({ create: () => Promise.reject(new Error('no disk')) });
  t.match((await broken.call('admin_create_agent', { intent: 'x' })).data, { errors: ['no disk'] });
  t.match(broken.logged, [{ level: 'info' }, { level: 'error', data: { err: new Error('no disk') } }]);
});

t.test('logs each call with its ids and without its arguments', async (t) => {
  const { call, logged } = start();
  await call('admin_create_agent_draft', { intent: 'something private' });
  t.match(logged, [
    {
      level: 'info',
      data: {
        tool: 'admin_create_agent_draft',
        call_id: 'c1',
        thread_id: 't1',
        run_id: 'r1',
        agent_id: '__admin_assistant',
      },
    },
  ]);
  t.notMatch(JSON.stringify(logged), /private/);
});
