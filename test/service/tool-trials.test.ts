import t from 'tap';
import { z } from 'zod';
import { defineClientTool, defineTool } from '../../src/tools/define-tool.ts';
import { defineState, update } from '../../src/tools/state.ts';
import type { Tool } from '../../src/tools/tool.ts';
import { stdio } from '../mcp/manage.ts';
import { startPlane } from './config/plane.ts';
import { ask } from './http.ts';
import { ADMIN_TOKEN, eventually } from './troupe.ts';

/** Tools without a run: config.md 6.5. */

const visits = defineState({ key: 'visits', scope: 'thread', schema: z.number() });
const secret = defineState({ key: 'secret', scope: 'run', hidden: true, schema: z.string() });

/** `calls` has the arguments of executed calls, and `ended` the reasons of those that were cancelled. */
const createTools = () => {
  const calls: unknown[] = [];
  const ended: string[] = [];
  const tool = (id: string, execute: Parameters<typeof defineTool>[0]['execute'], more: object = {}): Tool =>
    defineTool({ id, description: id, input: z.object({}), execute, ...more });
  const tools = [
    defineTool({
      id: 'visit',
      description: 'Counts visits.',
      input: z.object({ name: z.string().min(2), token: z.string().optional() }),
      execute: ({ name }, { state, stream, agent_id }) => {
        calls.push(name);
        stream('greeting ');
        stream(name);
        return {
          data: { name, agent_id, before: state.get(visits) ?? null },
          message: `Hello ${name}`,
          state: [update(visits, 1), update(secret, 'x')],
          parts: [{ url: 'https://example.com/a.png', media_type: 'image/png' }],
        };
      },
    }),
    tool(
      'hang',
      (_, { signal }) =>
        new Promise(() => {
          calls.push('hang');
          signal.addEventListener('abort', () => ended.push(String(signal.reason.message)));
        }),
    ),
    tool('note', () => 'noted'),
    tool('large', () => 'x'.repeat(3 * 1024 * 1024)),
    tool('pay', () => calls.push('pay'), { needsApproval: true }),
    tool('undecided', () => calls.push('undecided'), { needsApproval: () => new Promise(() => {}) }),
    tool('unsure', () => calls.push('unsure'), {
      needsApproval: () => Promise.reject(new Error('no rules')),
    }),
    tool('model', (_, { askModel, signal }) => askModel({ messages: [] }, signal)),
    tool('suspends', () => ({
      suspend: {
        suspension: { id: 's', action: 'confirm', message: 'Transfer?' },
        pending: { id: 's', name: 'confirm', arguments: {} },
        resume_mode: 'use_decision_as_tool_result',
      },
    })),
    defineClientTool({ id: 'pick', description: 'Picks a color.', input: z.object({}) }),
  ];
  return { tools, calls, ended };
};

t.test('returns the outcome of a call, and stores only its audit entry', async (t) => {
  const { tools, calls } = createTools();
  const { post, get, audit } = await startPlane(t, { app: { tools } });
  const { body: definition } = await get('/v1/tools/visit');
  t.match(definition, { id: 'visit', description: 'Counts visits.', needs_run: null });
  t.match(definition.parameters_schema, { type: 'object', required: ['name'] });
  const { status, body } = await post('/v1/tools/visit/try', {
    arguments: { name: 'Ada', token: 'sk-very-secret' },
  });
  t.equal(status, 200);
  t.match(body, {
    status: 'success',
    data: { name: 'Ada', agent_id: 'none', before: null },
    message: 'Hello Ada',
    output: 'greeting Ada',
    state: [
      { key: 'visits', scope: 'thread', hidden: false, value: 1 },
      { key: 'secret', scope: 'run', hidden: true, value: 'x' },
    ],
    parts: [{ type: 'image' }],
    permission: null,
  });
  t.type(body.duration_ms, 'number');
  t.strictSame(calls, ['Ada']);
  const [event] = await audit('?resource=tools/visit');
  t.match(event, { action: 'try', after: { arguments: { name: 'Ada' } } });
  t.notMatch(JSON.stringify(event), /very-secret/);
  t.match((await get('/v1/runs')).body, { items: [] });
  t.match((await get('/v1/threads')).body, { items: [] });
  await post('/v1/tools/visit/try', { arguments: { name: 'x'.repeat(5000) } });
  const [large] = await audit('?resource=tools/visit');
  t.match(large, { after: { arguments_characters: 5011 } });
});

t.test('rejects arguments that the schema forbids, and executes nothing', async (t) => {
  const { tools, calls } = createTools();
  const { post, audit } = await startPlane(t, { app: { tools } });
  const attempt = (body: unknown) => post('/v1/tools/visit/try', body);
  t.match(await attempt({ arguments: {} }), {
    status: 400,
    body: { error: "invalid arguments: Missing 'name'" },
  });
  t.match(await attempt({ arguments: { name: 'A' } }), { status: 400, body: { error: /'name': / } });
  t.match(await attempt({ arguments: { name: 'Ada' }, timeout_ms: 1 }), { status: 422 });
  t.match(await attempt({ arguments: { name: 'Ada' }, agent: 'default' }), { status: 422 });
  t.match(await post('/v1/tools/nothing/try', {}), { status: 404 });
  t.strictSame(calls, []);
  t.strictSame(await audit('?resource=tools'), []);
});

t.test('reports failures of the tool as its outcome', async (t) => {
  const { tools, calls, ended } = createTools();
  const { post } = await startPlane(t, { app: { tools } });
  const outcome = async (id: string, more: object = {}) => (await post(`/v1/tools/${id}/try`, more)).body;
  t.match(await outcome('failingTool'), {
    status: 'error',
    message: 'Execution failed: Intentional failingTool error for e2e validation',
  });
  t.match(await outcome('hang', { timeout_ms: 20 }), {
    status: 'error',
    message: 'Timeout: the tool did not end within 20 ms',
    metadata: { timed_out: true },
  });
  t.match(ended, [/did not end/]);
  t.match(await outcome('undecided', { timeout_ms: 10 }), {
    status: 'error',
    message: /did not end within 10 ms/,
  });
  t.match(await outcome('unsure'), { status: 'error', message: /no rules/ });
  t.notOk(calls.includes('undecided') || calls.includes('unsure'), 'nothing is executed without a decision');
  t.match(await outcome('large'), { status: 'error', data: null, message: /at most 2097152/ });
  t.match(await outcome('model'), { status: 'error', message: /without a run has no model/ });
  t.match(await outcome('suspends'), { status: 'suspended', message: 'Transfer?', data: null });
});

/** Calls a tool that never ends until the client disconnects. */
const tryUntil = ({ url }: { url: string }, signal: AbortSignal) =>
  ask(`${url}/v1/tools/hang/try`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
    body: '{}',
    signal,
  });

t.test('cancels the call when the client disconnects', async (t) => {
  const { tools, calls, ended } = createTools();
  const { troupe } = await startPlane(t, { app: { tools } });
  const gone = new AbortController();
  const asked = tryUntil(troupe, gone.signal);
  await eventually(
    async () => calls,
    (made) => made.length === 1,
  );
  gone.abort();
  await t.rejects(asked);
  await eventually(
    async () => ended,
    (reasons) => reasons.length === 1,
  );
  t.match(ended, ['the caller has left']);
});

t.test('rejects excess trials', async (t) => {
  const { tools, calls } = createTools();
  const { post, troupe } = await startPlane(t, { app: { tools } });
  const gone = new AbortController();
  const hanging = Array.from({ length: 16 }, () => tryUntil(troupe, gone.signal));
  await eventually(
    async () => calls,
    (made) => made.length === 16,
  );
  t.match(await post('/v1/tools/visit/try', { arguments: { name: 'Ada' } }), {
    status: 503,
    body: { error: '16 tools are being tried already' },
  });
  gone.abort();
  await Promise.allSettled(hanging);
  await eventually(
    () => post('/v1/tools/visit/try', { arguments: { name: 'Ada' } }),
    ({ status }) => status === 200,
  );
});

t.test('returns what would happen to the call in a run of an agent', async (t) => {
  const { tools, calls } = createTools();
  const { post, get } = await startPlane(t, { app: { tools } });
  const rules = [
    { tool: 'visit(name ~ "Eve*")', behavior: 'deny' },
    { tool: 'visit', behavior: 'allow' },
  ];
  await post('/v1/config/agents', {
    id: 'careful',
    model_id: 'default',
    allowed_tools: ['visit', 'pay', 'note', 'agent_run_default', 'ToolSearch'],
    delegates: ['default'],
    plugin_ids: ['permission', 'skills-discovery', 'ext-deferred-tools'],
    sections: { permission: { default_behavior: 'ask', rules } },
  });
  const permission = async (id: string, args: object = {}, agent_id?: string) =>
    (await post(`/v1/tools/${id}/try`, { arguments: args, agent_id })).body;
  t.match(await permission('visit', { name: 'Ada' }, 'careful'), {
    data: { agent_id: 'careful' },
    permission: { behavior: 'allow', decided_by: 'rule', rule: 'visit' },
  });
  t.match(await permission('visit', { name: 'Eve' }, 'careful'), {
    status: 'success',
    permission: { behavior: 'deny', decided_by: 'rule', rule: 'visit(name ~ "Eve*")' },
  });
  t.match(await permission('pay', {}, 'careful'), {
    permission: { behavior: 'ask', decided_by: 'tool', rule: null },
  });
  t.match(await permission('note', {}, 'careful'), {
    permission: { behavior: 'ask', decided_by: 'default', rule: null },
  });
  t.match(await permission('pay'), { permission: { behavior: 'ask', decided_by: 'tool', rule: null } });
  t.strictSame(calls, ['Ada', 'Eve', 'pay', 'pay']);
  t.match(await post('/v1/tools/hang/try', { agent_id: 'careful' }), {
    status: 404,
    body: { error: 'tool not found: hang (agent careful)' },
  });
  t.match(await get('/v1/tools/ToolSearch?agent_id=careful'), { body: { needs_run: null } });
  t.match(await post('/v1/tools/agent_run_default/try', { agent_id: 'careful' }), {
    status: 409,
    body: {
      error: "tool 'agent_run_default' cannot be tried without a run: it starts a run of agent 'default'",
    },
  });
});

t.test('names the reason for tools that need a run', async (t) => {
  const { tools } = createTools();
  const { post, get } = await startPlane(t, { app: { tools } });
  for (const id of ['pick', 'askUserQuestion', 'cancel_task', 'send_message', 'ToolSearch']) {
    const { body } = await get(`/v1/tools/${id}`);
    t.type(body.needs_run, 'string', id);
    t.match(
      await post(`/v1/tools/${id}/try`, {}),
      { status: 409, body: { error: `tool '${id}' cannot be tried without a run: ${body.needs_run}` } },
      id,
    );
  }
});

t.test('calls tools of MCP servers and of plugins', async (t) => {
  const { post, get } = await startPlane(t);
  await post('/v1/config/mcp-servers', stdio('far', { TOOLS: 'echo,fail' }));
  t.match(await get('/v1/tools/mcp__far__echo'), {
    body: { name: 'echo', parameters_schema: { type: 'object' }, needs_run: null },
  });
  t.match(await post('/v1/tools/mcp__far__echo/try', { arguments: { message: 'from afar' } }), {
    status: 200,
    body: { status: 'success', data: 'from afar' },
  });
  t.match(await post('/v1/tools/mcp__far__fail/try', {}), {
    body: { status: 'error', message: /it did not work/ },
  });
  t.match(await post('/v1/tools/mcp__far__echo/try', { arguments: 'text' }), { status: 400 });
  const skill = await get('/v1/tools/skill');
  t.match(skill, { body: { name: 'Skill', needs_run: null } });
  t.match(await post('/v1/tools/skill/try', { arguments: { skill: 'greeting' } }), {
    body: { status: 'success', data: { activated: true } },
  });
});
