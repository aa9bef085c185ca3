import t from 'tap';
import { previewRemoval, type Referrers, unusedModels, usedBy } from '../../src/configuration/dependents.ts';
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

t.test('lists the models of a provider in order of their ids', async (t) => {
  t.strictSame(ids('providers', 'p'), ['models/free', 'models/m1', 'models/m2']);
});

t.test('lists local agents that use a model in byte order, and then pools', async (t) => {
  t.strictSame(ids('models', 'm1'), ['agents/z', 'agents/\uffff', 'agents/\u{10000}']);
  t.strictSame(ids('models', 'm2'), ['model-pools/pool']);
  t.strictSame(ids('model-pools', 'pool'), ['agents/pooled']);
});

t.test('lists the agents that delegate to an agent, except itself', async (t) => {
  t.strictSame(ids('agents', 'remote'), ['agents/\uffff']);
  t.strictSame(ids('agents', 'pooled'), []);
});

t.test('lists the agents that name an A2A server', async (t) => {
  t.strictSame(ids('a2a-servers', 's'), ['agents/remote']);
});

t.test('lists the skills that name tools of an MCP server, or match them by pattern', async (t) => {
  t.strictSame(ids('mcp-servers', 'my-server'), [
    'skills/exact',
    'skills/glob',
    'skills/raw',
    'skills/regex',
  ]);
  t.strictSame(ids('mcp-servers', '--'), [], 'the tools of a server without a valid id match no skill');
});

t.test('lists no dependents of skills and tools', async (t) => {
  t.strictSame([...ids('skills', 'raw'), ...ids('tools', 'finish')], []);
});

t.test('includes unused models in a forced delete of a provider', async (t) => {
  t.strictSame(unusedModels('p', records), ['free']);
});

t.test('previews models, pools and agents, and the effect of a delete', async (t) => {
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
