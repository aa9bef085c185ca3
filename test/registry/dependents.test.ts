import t from 'tap';
import { previewRemoval, type Referrers, unusedModels, usedBy } from '../../src/registry/dependents.ts';
import { AgentSpec } from '../../src/schema/agent.ts';
import { PoolSpec } from '../../src/schema/model.ts';

const model = (id: string, provider_id = 'p') => ({ id, provider_id, upstream_model: 'u' });
const remote = { base_url: 'http://h', options: { a2a_server_id: 's' } };

const records: Referrers = {
  models: [model('m2'), model('m1'), model('free'), model('other', 'q')],
  model_pools: [PoolSpec.parse({ id: 'pool', members: [{ model_id: 'm2' }] })],
  agents: [
    { id: 'z', model_id: 'm1' },
    { id: '\u{10000}', model_id: 'm1' },
    { id: '\uffff', model_id: 'm1', delegates: ['z', 'remote', 'remote'] },
    { id: 'pooled', model_id: 'pool' },
    { id: 'remote', model_id: 'm1', endpoint: remote, delegates: ['remote'] },
  ].map((agent) => AgentSpec.parse(agent)),
  skills: [
    { id: 'exact', allowed_tools: ['mcp__my_server__read'] },
    { id: 'raw', allowed_tools: ['mcp__my-server__gone'] },
    { id: 'glob', allowed_tools: ['*read'] },
    { id: 'regex', allowed_tools: ['/^mcp__my_/'] },
    { id: 'longer', allowed_tools: ['mcp__my_server_two__read', '*_nothing', 'read'] },
    { id: 'none' },
  ],
  tools: ['mcp__my_server__read', 'mcp__my_server_two__write', 'finish'],
};

const ids = (namespace: Parameters<typeof usedBy>[0], id: string) =>
  usedBy(namespace, id, records).map((found) => `${found.namespace}/${found.id}`);

t.test('a provider is used by its models, in order of their ids', async (t) => {
  t.strictSame(ids('providers', 'p'), ['models/free', 'models/m1', 'models/m2']);
});

t.test('a model is used by local agents, in byte order, and then by pools', async (t) => {
  t.strictSame(ids('models', 'm1'), ['agents/z', 'agents/\uffff', 'agents/\u{10000}']);
  t.strictSame(ids('models', 'm2'), ['model-pools/pool']);
  t.strictSame(ids('model-pools', 'pool'), ['agents/pooled']);
});

t.test('an agent is used by those that delegate to it, but not by itself', async (t) => {
  t.strictSame(ids('agents', 'remote'), ['agents/\uffff']);
  t.strictSame(ids('agents', 'pooled'), []);
});

t.test('an A2A server is used by agents that name it', async (t) => {
  t.strictSame(ids('a2a-servers', 's'), ['agents/remote']);
});

t.test('an MCP server is used by skills that name its tools, or a pattern that matches one', async (t) => {
  t.strictSame(ids('mcp-servers', 'my-server'), [
    'skills/exact',
    'skills/glob',
    'skills/raw',
    'skills/regex',
  ]);
  t.strictSame(ids('mcp-servers', '--'), [], 'a server whose tools cannot have an id');
});

t.test('nobody depends on skills and tools', async (t) => {
  t.strictSame([...ids('skills', 'raw'), ...ids('tools', 'finish')], []);
});

t.test('a forced delete of a provider takes the models that nobody uses', async (t) => {
  t.strictSame(unusedModels('p', records), ['free']);
});

t.test('the preview names models, pools and agents, and what a delete would do', async (t) => {
  t.strictSame(previewRemoval('p', records), {
    provider_id: 'p',
    model_ids: ['free', 'm1', 'm2'],
    pool_ids: ['pool'],
    agent_ids: ['pooled', 'z', '\uffff', '\u{10000}'],
    block_if_referenced_allowed: false,
    cascade_unused_models_allowed: false,
  });
  t.match(previewRemoval('q', records), {
    model_ids: ['other'],
    block_if_referenced_allowed: false,
    cascade_unused_models_allowed: true,
  });
  t.match(previewRemoval('gone', records), {
    block_if_referenced_allowed: true,
    cascade_unused_models_allowed: true,
  });
});
