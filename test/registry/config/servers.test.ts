import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mock } from 'node:test';
import t, { type Test } from 'tap';
import type { McpServers } from '../../../src/registry/config/servers.ts';
import type { Tool } from '../../../src/tools/tool.ts';
import { BASE, startPlane, toolOf } from './plane.ts';

/** What a publication asks of others: MCP servers (config.md 7.4, 13.4, check 64) and lists of models (7.1). */

/** Servers are up when they have tools here. */
const createServers = () => {
  const up = new Map<string, Tool[]>();
  let tools = new Map<string, readonly Tool[]>();
  const log: string[] = [];
  let held: Promise<void> | undefined;
  const mcp: McpServers = {
    async connect({ id }) {
      log.push(`connect ${id}`);
      await held;
      const own = up.get(id);
      if (!own) throw new Error('spawn ENOENT');
      return { tools: own, discard: () => log.push(`discard ${id}`) };
    },
    tools: () => tools,
    apply(specs) {
      tools = new Map(specs.map(({ id }) => [id, up.get(id) ?? []]));
    },
    retain: () => {},
    leftOut: () => [],
  };
  return {
    mcp,
    up,
    log,
    /** What a server that is live has from now on. */
    now(id: string, own: readonly Tool[]) {
      tools = new Map([...tools, [id, own]]);
    },
    hold(until: Promise<void>) {
      held = until;
    },
  };
};

const start = async (t: Test) => {
  const servers = createServers();
  const plane = await startPlane(t, { more: { mcp: servers.mcp } });
  return { ...servers, plane };
};

const stdio = (id: string, more: object = {}) => ({ id, transport: 'stdio', command: 'x', ...more });

t.test('a new server is connected before it is stored, and its tools are live with it', async (t) => {
  const { plane, up, log } = await start(t);
  up.set('files', [toolOf('mcp__files__read')]);
  await plane.create(
    'agents',
    plane.agent('a', { allowed_tools: ['look'], allowed_tool_patterns: ['mcp__files__*'] }),
  );
  await plane.create('mcp-servers', stdio('files'));
  t.strictSame([...plane.live.resolve('a').tools.keys()], ['look', 'mcp__files__read']);
  t.match(plane.service.capabilities().tools, [
    {},
    { id: 'mcp__files__read', source: { kind: 'mcp', id: 'files' } },
  ]);
  t.throws(() => plane.service.get('tools', 'mcp__files__read'), { name: 'NotFound' });
  await plane.put('agents', plane.agent('b'));
  await plane.put('mcp-servers', stdio('files'));
  t.strictSame(log, ['connect files'], 'one that stays as it is is not connected anew');
  await plane.put('mcp-servers', stdio('files', { args: ['-v'] }));
  t.strictSame(log, ['connect files', 'connect files']);
  await plane.restart();
  t.match([...plane.live.resolve('a').tools.keys()], ['look']);
});

t.test('a server that cannot be connected is refused, and told to the audit log', async (t) => {
  const { plane, log } = await start(t);
  await plane.service.validate('mcp-servers', stdio('dead'));
  t.strictSame(log, [], 'a validate connects nothing');
  await t.rejects(plane.create('mcp-servers', stdio('dead')), {
    name: 'Invalid',
    message: 'invalid payload: invalid managed config: failed to connect MCP servers: dead: spawn ENOENT',
  });
  t.throws(() => plane.service.get('mcp-servers', 'dead'));
  t.match(plane.events('mcp-servers/dead'), [{ action: 'apply_failed', error: /failed to connect/ }]);
});

t.test('a tool that is there already is refused, and the connection given up', async (t) => {
  const { plane, up, log } = await start(t);
  up.set('one', [toolOf('mcp__x__y')]);
  up.set('two', [toolOf('mcp__x__y'), toolOf('look')]);
  await plane.create('mcp-servers', stdio('one'));
  await t.rejects(plane.create('mcp-servers', stdio('two')), {
    message:
      'invalid payload: invalid managed config: registry validation failed: mcp tool id conflicts with existing tool: mcp__x__y; mcp tool id conflicts with existing tool: look',
  });
  t.strictSame(log, ['connect one', 'connect two', 'discard two']);
});

t.test('a server that is slow to connect holds no other write up', async (t) => {
  const { plane, up, hold } = await start(t);
  up.set('slow', [toolOf('mcp__slow__x')]);
  let release = (): void => {};
  hold(
    new Promise((resolve) => {
      release = resolve;
    }),
  );
  const created = plane.create('mcp-servers', stdio('slow'));
  await plane.create('agents', plane.agent('a'));
  t.throws(() => plane.service.get('mcp-servers', 'slow'));
  release();
  await created;
  t.ok(plane.live.resolve('a').tools.has('mcp__slow__x'));
});

t.test('of two that write one server at once, the one that connected for nothing is told', async (t) => {
  const { plane, up, log, hold } = await start(t);
  up.set('s', [toolOf('mcp__s__x')]);
  await plane.create('mcp-servers', stdio('s'));
  hold(Promise.resolve());
  const results = await Promise.allSettled([
    plane.put('mcp-servers', stdio('s', { args: ['1'] })),
    plane.put('mcp-servers', stdio('s', { args: ['2'] })),
  ]);
  t.match(results, [
    { status: 'fulfilled' },
    {
      status: 'rejected',
      reason: {
        name: 'Conflict',
        message:
          'conflict: mcp-servers/s was modified by another writer (expected revision 1, found 2); retry the mutation',
      },
    },
  ]);
  t.equal(log.at(-1), 'discard s');
  t.equal(plane.events('mcp-servers/s').length, 2, 'that is no failed apply');
});

t.test('tools that come and go are live with a refresh, as a publication of its own', async (t) => {
  const { plane, up, now } = await start(t);
  up.set('s', [toolOf('mcp__s__x')]);
  await plane.create('mcp-servers', stdio('s'));
  await plane.create('agents', plane.agent('a'));
  const before = plane.live.resolve('a').resolution_id;
  await plane.live.refresh();
  t.equal(plane.live.resolve('a').resolution_id, before, 'nothing new is not published');
  const held = plane.live.resolve('a', before);
  up.set('s', [toolOf('mcp__s__y')]);
  now('s', [toolOf('mcp__s__y')]);
  await plane.live.refresh();
  t.strictSame([...plane.live.resolve('a').tools.keys()], ['look', 'write', 'mcp__s__y']);
  t.strictSame([...held.tools.keys()], ['look', 'write', 'mcp__s__x']);
  t.equal(plane.live.resolve('a').resolution_id, String(Number(before) + 1));
});

t.test('a rule that has the raw name of a server means its tools', async (t) => {
  const { plane, up } = await start(t);
  up.set('my-server', [toolOf('mcp__my_server__x')]);
  await plane.create('mcp-servers', stdio('my-server'));
  await plane.create('agents', plane.agent('a', { allowed_tool_patterns: ['mcp__my-server__*'] }));
  t.strictSame([...plane.live.resolve('a').tools.keys()], ['mcp__my_server__x']);
  await plane.create('skills', {
    id: 's',
    name: 's',
    description: 'd',
    instructions_md: 'i',
    allowed_tools: ['mcp__my_server__x'],
  });
  await t.rejects(plane.remove('mcp-servers', 'my-server'), { name: 'Conflict', message: /^cannot delete/ });
});

const modelList = async (t: Test) => {
  const state = { requests: 0, context_window: 4000, down: false, asked() {}, until: Promise.resolve() };
  const server = createServer(async (_, response) => {
    state.requests += 1;
    state.asked();
    await state.until;
    if (state.down) return void response.writeHead(500).end();
    response.setHeader('content-type', 'application/json');
    const { context_window } = state;
    response.end(JSON.stringify({ data: [{ id: 'up', context_window, max_output_tokens: 100 }] }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  // A server that listens on a port has an address with it.
  const { port } = server.address() as AddressInfo;
  const provider = {
    id: 'listed',
    adapter: 'openai',
    api_key: 'k',
    base_url: `http://127.0.0.1:${port}/v1/`,
  };
  return { state, provider };
};

const context_policy = {
  max_context_tokens: 100_000,
  max_output_tokens: 90_000,
  min_recent_messages: 2,
  enable_prompt_cache: false,
};

t.test('what the list of a provider says of a model is known to the runs behind the write', async (t) => {
  const { state, provider } = await modelList(t);
  const plane = await startPlane(t);
  await plane.create('providers', provider);
  await plane.create('models', { id: 'm2', provider_id: 'listed', upstream_model: 'up' });
  await plane.create('agents', plane.agent('a', { model_id: 'm2', context_policy }));
  t.match(plane.live.resolve('a').contextPolicy, { max_context_tokens: 4000, max_output_tokens: 100 });
  t.strictSame(plane.service.get('models', 'm2'), { id: 'm2', provider_id: 'listed', upstream_model: 'up' });
  t.equal(state.requests, 1);
  await plane.restart();
  while (plane.live.resolve('a').contextPolicy?.max_context_tokens !== 4000) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  t.equal(state.requests, 2, 'a start asks beside its work');
});

t.test('a list that comes too late for a write is used as soon as it is there', async (t) => {
  const { state, provider } = await modelList(t);
  const plane = await startPlane(t);
  await plane.create('providers', provider);
  let release = (): void => {};
  state.until = new Promise((resolve) => {
    release = resolve;
  });
  const asked = new Promise<void>((resolve) => {
    state.asked = resolve;
  });
  mock.timers.enable({ apis: ['setTimeout'] });
  t.teardown(() => mock.timers.reset());
  const writing = plane.create('models', { id: 'm2', provider_id: 'listed', upstream_model: 'up' });
  await asked;
  mock.timers.tick(3000);
  mock.timers.reset();
  await writing;
  await plane.create('agents', plane.agent('a', { model_id: 'm2', context_policy }));
  t.match(plane.live.resolve('a').contextPolicy, { max_context_tokens: 100_000 });
  release();
  while (plane.live.resolve('a').contextPolicy?.max_context_tokens !== 4000) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  t.equal(state.requests, 1);
});

t.test('a list that cannot be read stops no write', async (t) => {
  const { state, provider } = await modelList(t);
  state.down = true;
  const plane = await startPlane(t);
  await plane.create('providers', provider);
  await plane.create('models', { id: 'm2', provider_id: 'listed', upstream_model: 'up' });
  t.match(plane.warnings, ['the models of a provider could not be listed']);
  t.match(plane.service.get('models', 'm2'), { id: 'm2' });
});

t.test('nobody is asked for a write that is refused anyway', async (t) => {
  const { state, provider } = await modelList(t);
  const plane = await startPlane(t, { entries: { ...BASE, providers: [...BASE.providers, provider] } });
  const taken = { id: 'm', provider_id: 'listed', upstream_model: 'up' };
  await t.rejects(plane.create('models', taken), { name: 'Conflict' });
  await t.rejects(plane.put('providers', { ...provider, adapter: 'nope' }), { name: 'Invalid' });
  t.equal(state.requests, 0);
});
