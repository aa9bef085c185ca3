import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mock } from 'node:test';
import t, { type Test } from 'tap';
import type { McpServers } from '../../../src/configuration/control-plane/servers.ts';
import type { Tool } from '../../../src/tools/tool.ts';
import { BASE, startPlane, toolOf } from './plane.ts';

/** External requests of a publication: MCP servers (config.md 7.4, 13.4, check 64) and lists of models (7.1). */

/** Fake servers, which are up if they have tools. */
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
    /** Sets the current tools of a live server. */
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

t.test('connects a new server before storing it, and publishes its tools with it', async (t) => {
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
  t.strictSame(log, ['connect files'], 'an unchanged server is not reconnected');
  await plane.put('mcp-servers', stdio('files', { args: ['-v'] }));
  t.strictSame(log, ['connect files', 'connect files']);
  await plane.restart();
  t.match([...plane.live.resolve('a').tools.keys()], ['look']);
});

t.test('rejects a server that cannot be connected, and logs it in the audit log', async (t) => {
  const { plane, log } = await start(t);
  await plane.service.validate('mcp-servers', stdio('dead'));
  t.strictSame(log, [], 'validate connects to no server');
  await t.rejects(plane.create('mcp-servers', stdio('dead')), {
    name: 'Invalid',
    message: 'invalid payload: invalid managed config: failed to connect MCP servers: dead: spawn ENOENT',
  });
  t.throws(() => plane.service.get('mcp-servers', 'dead'));
  t.match(plane.events('mcp-servers/dead'), [{ action: 'apply_failed', error: /failed to connect/ }]);
});

t.test('rejects a duplicate tool and discards the connection', async (t) => {
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

t.test('does not delay other writes while a server connects slowly', async (t) => {
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

t.test('rejects one of two concurrent writes of a server as a conflict', async (t) => {
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
  t.equal(plane.events('mcp-servers/s').length, 2, 'a conflict is not a failed write in the audit log');
});

t.test('publishes tool changes of a server on a refresh', async (t) => {
  const { plane, up, now } = await start(t);
  up.set('s', [toolOf('mcp__s__x')]);
  await plane.create('mcp-servers', stdio('s'));
  await plane.create('agents', plane.agent('a'));
  const before = plane.live.resolve('a').resolution_id;
  await plane.live.refresh();
  t.equal(plane.live.resolve('a').resolution_id, before, 'unchanged tools are not published');
  const held = plane.live.resolve('a', before);
  up.set('s', [toolOf('mcp__s__y')]);
  now('s', [toolOf('mcp__s__y')]);
  await plane.live.refresh();
  t.strictSame([...plane.live.resolve('a').tools.keys()], ['look', 'write', 'mcp__s__y']);
  t.strictSame([...held.tools.keys()], ['look', 'write', 'mcp__s__x']);
  t.equal(plane.live.resolve('a').resolution_id, String(Number(before) + 1));
});

t.test('matches a rule with the raw name of a server to its tools', async (t) => {
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
  // The server is listening on a port.
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

t.test('uses the model properties from the list of a provider in later runs', async (t) => {
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
  t.equal(state.requests, 2, 'the startup reads the list once in the background');
});

t.test('uses a list that arrives after a write as soon as it is available', async (t) => {
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

t.test('accepts a write although a list cannot be read', async (t) => {
  const { state, provider } = await modelList(t);
  state.down = true;
  const plane = await startPlane(t);
  await plane.create('providers', provider);
  await plane.create('models', { id: 'm2', provider_id: 'listed', upstream_model: 'up' });
  t.match(plane.warnings, ['config.model_list_failed']);
  t.match(plane.service.get('models', 'm2'), { id: 'm2' });
});

t.test('requests no list for a write that is rejected anyway', async (t) => {
  const { state, provider } = await modelList(t);
  const plane = await startPlane(t, { entries: { ...BASE, providers: [...BASE.providers, provider] } });
  const taken = { id: 'm', provider_id: 'listed', upstream_model: 'up' };
  await t.rejects(plane.create('models', taken), { name: 'Conflict' });
  await t.rejects(plane.put('providers', { ...provider, adapter: 'nope' }), { name: 'Invalid' });
  t.equal(state.requests, 0);
});
