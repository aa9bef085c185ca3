import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { z } from 'zod';
import { capabilities } from '../../src/console/data/resources.ts';
import {
  asSpec,
  isDirty,
  type Opened,
  saidOf,
  stored as storedAfter,
} from '../../src/console/entry/entry.ts';
import { keptFrom } from '../../src/console/entry/kept-draft.ts';
import { merged, mergeParts } from '../../src/console/entry/merge.ts';
import { problemsOf } from '../../src/console/entry/problems.ts';
import { loadExpressions } from '../../src/console/schema-form/expressions.ts';
import {
  type Called,
  CLIENT_IDS,
  CLIENTS,
  type Client,
  textFor,
} from '../../src/console/screens/agent-editor/connect/clients.ts';
import {
  changedFields,
  copyOf,
  discoveredAt,
  isLocal,
  meaningOf,
  newDraft,
  withFields,
  withSection,
} from '../../src/console/screens/agent-editor/draft.ts';
import {
  dropsOverrides,
  overridePatch,
  patchOf,
  saveRequest,
  sourceOf,
  validateRequest,
} from '../../src/console/screens/agent-editor/editing.ts';
import { countsOf, piecesOf } from '../../src/console/screens/agent-editor/fields/prompt-text.ts';
import { lockedFields, rawText, readRaw } from '../../src/console/screens/agent-editor/fields/raw-json.ts';
import {
  comparedIn,
  versionOf,
  withChosen,
} from '../../src/console/screens/agent-editor/history/versions.ts';
import {
  agentFieldIn,
  agentProblems,
  countByTab,
  isToolPattern,
  tabOf,
} from '../../src/console/screens/agent-editor/problems.ts';
import {
  allowlistOf,
  cycleThrough,
  hiddenSkillTools,
  skillsSection,
  withSkillTools,
} from '../../src/console/screens/agent-editor/references/references.ts';
import { permissionsOf, withDecision } from '../../src/console/screens/agent-editor/tools/permission.ts';
import {
  fieldsOf,
  hasServer,
  matchesOf,
  mcpPattern,
  selectionOf,
  tokensOf,
  verdictsOf,
  withPattern,
  withServer,
  withTool,
} from '../../src/console/screens/agent-editor/tools/selection.ts';
import { AgentSpec } from '../../src/schema/agent.ts';
import { ROOT } from '../run/places.ts';

/** The parts of the agent editor that need no browser. */

const LOCAL = 'local';

const stored = {
  id: 'helper',
  backend: { kind: LOCAL, version: 1, config: { model_id: 'm', system_prompt: 'Be brief', max_rounds: 3 } },
  model_id: 'm',
  system_prompt: 'Be brief',
  max_rounds: 3,
  max_continuation_retries: 2,
  plugin_ids: ['permission'],
  allowed_tools: null,
  allowed_tool_patterns: ['*'],
};

const meta = (kind: string, overrides?: Record<string, unknown>) => ({
  source: { kind },
  user_overrides: overrides,
  base: undefined as Record<string, unknown> | undefined,
  created_at: 1,
  updated_at: 1,
  actor: 'alice',
  version: 1,
  revision: 1,
});

const opened = (spec: Record<string, unknown>, found?: ReturnType<typeof meta>): Opened => ({
  isNew: found === undefined,
  start: asSpec(spec),
  meta: found,
});

t.test('mirrors fields into the local backend and detects only changes with an effect', async (t) => {
  const draft = newDraft(LOCAL);
  t.strictSame(changedFields(draft, draft), []);
  const next = withFields(draft, { model_id: 'm', max_rounds: 4, system_prompt: 'Hi' }, LOCAL);
  t.match(next.backend, { config: { model_id: 'm', max_rounds: 4, system_prompt: 'Hi' } });
  t.strictSame(changedFields(draft, next).sort(), ['max_rounds', 'model_id', 'system_prompt']);
  t.strictSame(changedFields(draft, { ...draft, description: '', stop_conditions: [], endpoint: null }), []);
  t.strictSame(changedFields(draft, { ...draft, sections: { a: {} } }), ['sections']);
  t.strictSame(changedFields(stored, { ...stored, allowed_tool_patterns: null }), ['allowed_tool_patterns']);
  t.notOk('description' in withFields({ ...draft, description: 'x' }, { description: undefined }, LOCAL));
  t.strictSame(withSection({ sections: { a: {}, b: {} } }, 'a', undefined), { sections: { b: {} } });
});

t.test('edits, clears and overrides settings of model calls', async (t) => {
  const set = { temperature: 0.5, stop: ['END', ' '], tool_choice: { tool: 'x' }, seed: undefined };
  const draft = withFields({ ...stored, id: 'helper' }, set, LOCAL);
  t.strictSame(changedFields(stored, draft).sort(), ['stop', 'temperature', 'tool_choice']);
  t.strictSame(changedFields(stored, { ...stored, verbosity: null, seed: '' }), []);
  const parts = {
    stored: draft,
    draft: { ...draft, stop: undefined },
    base: {},
    overrides: {},
    localKind: LOCAL,
  };
  t.strictSame(patchOf(parts), { stop: null });
  t.strictSame(['temperature', 'provider_options', 'reasoning_effort'].map(tabOf), [
    'advanced',
    'advanced',
    'basics',
  ]);
});

t.test('clears the model and the prompt for a remote backend', async (t) => {
  const remote = withFields(
    { ...stored, id: 'helper' },
    { backend: { kind: 'a2a', version: 1, config: { base_url: 'https://far' } } },
    LOCAL,
  );
  t.match(remote, { model_id: '', system_prompt: '', backend: { config: { base_url: 'https://far' } } });
  t.notOk(isLocal(remote, LOCAL));
  t.notOk(isLocal({ endpoint: {} }, LOCAL));
  t.equal(discoveredAt({ endpoint: { backend: 'a2a', options: { a2a_server_id: 'far' } } }), 'far');
  t.equal(discoveredAt({ endpoint: { backend: 'a2a', options: { a2a_server_id: ' ' } } }), undefined);
  t.equal(discoveredAt(stored), undefined);
});

t.test('copies an agent without its identity and backend', async (t) => {
  const copy = copyOf({ ...stored, created_at: 1, registry: 'r' }, LOCAL);
  t.match(copy, { id: '', model_id: 'm', plugin_ids: ['permission'] });
  t.notOk('created_at' in copy || 'registry' in copy);
  const far = copyOf({ id: 'far', backend: { kind: 'a2a', config: {} }, endpoint: {} }, LOCAL);
  t.ok(isLocal(far, LOCAL));
});

t.test('chooses the write request by the source of the agent', async (t) => {
  const requests = (before: Opened) => {
    const draft = withFields(before.start, { max_rounds: 8 }, LOCAL);
    return { save: saveRequest(before, draft, LOCAL), validate: validateRequest(before, draft, LOCAL) };
  };
  const fresh = requests(opened(newDraft(LOCAL)));
  t.match(fresh.save, { method: 'POST', path: '/v1/config/agents', body: { max_rounds: 8 } });
  t.match(fresh.validate, { path: '/v1/config/agents/validate', query: undefined });
  const user = requests(opened({ ...stored, future: 1 }, meta('user')));
  t.match(user.save, { method: 'PUT', path: '/v1/config/agents/helper', body: { future: 1 } });
  t.match(user.validate, { query: { id: 'helper' } });
  const builtin = opened(stored, meta('builtin'));
  t.strictSame(requests(builtin).save, {
    method: 'PATCH',
    path: '/v1/config/agents/helper/overrides',
    body: { max_rounds: 8 },
  });
  t.match(requests(builtin).validate, { method: 'POST', path: '/v1/config/agents/helper/overrides' });
  t.equal(saveRequest(builtin, builtin.start, LOCAL), undefined, 'no override would change');
  t.ok(isDirty(builtin, withFields(builtin.start, { max_rounds: 8 }, LOCAL), {}, meaningOf));
  t.notOk(isDirty(builtin, { ...builtin.start, stop_conditions: [] }, {}, meaningOf));
  t.equal(sourceOf(opened(stored, meta('builtin', { max_rounds: 3 }))), 'customized');
  t.ok(dropsOverrides(opened(stored, meta('user', { max_rounds: 3 }))));
  t.notOk(dropsOverrides(opened(stored, meta('user'))));
});

t.test('sends only differences as overrides', async (t) => {
  const patch = (
    from: Record<string, unknown>,
    fields: Record<string, unknown>,
    overrides?: Record<string, unknown>,
  ) => {
    const before = opened(from, meta('builtin', overrides));
    return overridePatch(before, withFields(before.start, fields, LOCAL), LOCAL);
  };
  t.strictSame(patch(stored, { max_rounds: 3 }), {});
  t.strictSame(patch(stored, { description: 'x', delegates: ['a'] }), { description: 'x', delegates: ['a'] });
  t.strictSame(patch({ ...stored, context_policy: {} }, { context_policy: null }), { context_policy: null });
  t.strictSame(patch({ ...stored, active_hook_filter: ['permission'] }, { active_hook_filter: [] }), {
    active_hook_filter: [],
  });
  t.strictSame(patch({ ...stored, description: 'x' }, { description: undefined }), { description: null });
  const sections = { permission: { default_behavior: 'ask' }, reminder: {}, same: { a: 1 } };
  t.strictSame(
    patch(
      { ...stored, sections },
      { sections: { permission: { default_behavior: 'deny' }, same: { a: 1 } } },
    ),
    { sections: { permission: { default_behavior: 'deny' }, reminder: null } },
  );
  t.strictSame(patch({ ...stored, max_rounds: 8 }, { max_rounds: 9 }, { max_rounds: 8 }), { max_rounds: 9 });
  const far = { kind: 'a2a', version: 1, config: { base_url: 'https://far' } };
  t.strictSame(patch(stored, { backend: far }), { backend: far });
  t.strictSame(patch(stored, { backend: far }, { endpoint: {} }), { backend: far, _clear: ['endpoint'] });
});

t.test('clears an override when the field is set back to its base value', async (t) => {
  const saved = opened(
    { ...stored, max_rounds: 8 },
    { ...meta('builtin', { max_rounds: 8 }), base: { max_rounds: 3 } },
  );
  const draft = withFields(saved.start, { max_rounds: 3 }, LOCAL);
  t.strictSame(overridePatch(saved, draft, LOCAL), { _clear: ['max_rounds'] });
});

t.test('merges concurrent edits of an agent field by field', async (t) => {
  const base = { ...stored, sections: { a: 1, b: 1 } };
  const theirs = { ...base, max_rounds: 5, system_prompt: 'Theirs', sections: { a: 2, b: 1 } };
  const mine = { ...base, description: 'Mine', system_prompt: 'Mine', sections: { a: 1, b: 3 } };
  const parts = mergeParts({ base, theirs, mine }, meaningOf);
  t.strictSame(
    Object.fromEntries(parts.map(({ path, isConflict, from }) => [path, isConflict ? 'conflict' : from])),
    {
      description: 'mine',
      max_rounds: 'theirs',
      system_prompt: 'conflict',
      'sections.a': 'theirs',
      'sections.b': 'mine',
    },
  );
  t.match(merged(theirs, mine, parts), { max_rounds: 5, description: 'Mine', system_prompt: 'Theirs' });
  t.match(merged(theirs, mine, parts, { system_prompt: 'mine', max_rounds: 'mine' }), {
    max_rounds: 3,
    system_prompt: 'Mine',
    sections: { a: 2, b: 3 },
  });
  const gone = mergeParts({ base, theirs: base, mine: { ...base, sections: { a: 1 } } }, meaningOf);
  t.strictSame(merged(base, { ...base, sections: { a: 1 } }, gone).sections, { a: 1 });
  const sent = asSpec(base);
  const now = {
    opened: opened(base, meta('builtin')),
    draft: { ...sent, system_prompt: 'Mine' },
    unread: {},
  };
  const after = storedAfter(now, sent, opened(theirs, meta('builtin')), meaningOf);
  t.match(after.draft, { system_prompt: 'Mine', max_rounds: 5 }, 'text typed during a save is kept');
  t.equal(storedAfter({ ...now, draft: sent }, sent, after.opened).draft, after.opened.start);
});

t.test('finds invalid fields before saving and assigns them to tabs', async (t) => {
  const schema = z.toJSONSchema(AgentSpec, { io: 'input', unrepresentable: 'any' });
  const known = capabilities.guard({ namespaces: [{ namespace: 'agents', schema }] }, '');
  const context = { localKind: LOCAL, taken: new Set(['pool']), capabilities: known };
  const fieldsIn = (fields: Record<string, unknown>, isNew = true) => {
    const draft = { ...newDraft(LOCAL), model_id: 'm', id: 'x', ...fields };
    const rules = {
      namespace: 'agents',
      entity: 'entity.agent',
      schema,
      check: () => agentProblems(draft, context).map(({ path, key }) => [path, key] as const),
    } as const;
    const editing = { opened: { isNew, start: draft, meta: undefined }, draft, unread: {} };
    return [...problemsOf(rules, editing, ({ key }) => key)].map(
      ([path, text]) => `${path} ${text.startsWith('problem.') ? text.slice(8) : '…'}`,
    );
  };
  t.strictSame(fieldsIn({}), []);
  t.strictSame(fieldsIn({ id: '', model_id: '' }), ['id …', 'model_id required']);
  t.strictSame(fieldsIn({ id: 'a b' }), ['id …']);
  t.strictSame(fieldsIn({ id: 'a b' }, false), []);
  t.strictSame(fieldsIn({ id: 'pool' }), ['id idTaken']);
  t.strictSame(fieldsIn({ id: 'x'.repeat(129) }), ['id …']);
  t.strictSame(fieldsIn({ max_rounds: -1, max_continuation_retries: '1.5' }), [
    'max_rounds least',
    'max_continuation_retries number',
  ]);
  t.strictSame(fieldsIn({ max_rounds: '', description: null, future: 1 }), ['max_rounds required']);
  t.strictSame(fieldsIn({ reasoning_effort: { budget: '' } }), ['reasoning_effort.budget required']);
  t.strictSame(
    fieldsIn({
      stop_conditions: [{ type: 'timeout', seconds: 'x' }, { type: 'stop_on_tool' }],
    }),
    ['stop_conditions.0.seconds number', 'stop_conditions.1.tool_name required'],
  );
  t.strictSame(fieldsIn({ context_policy: { max_context_tokens: 1, max_output_tokens: 1 } }), [
    'context_policy.min_recent_messages required',
    'context_policy.enable_prompt_cache required',
  ]);
  t.strictSame(
    fieldsIn({ sections: { compaction: { summarizer_user_prompt: 'x', min_savings_ratio: 2 } } }),
    ['sections.compaction.summarizer_system_prompt required', 'sections.compaction.min_savings_ratio most'],
  );
  t.strictSame(fieldsIn({ allowed_tool_patterns: ['a('] }), ['allowed_tool_patterns tools']);
  t.strictSame(fieldsIn({ model_id: '', backend: { kind: 'a2a', config: {} } }), []);
  t.strictSame(['*', 'a\\*', 'a\\\\', 'a\\', '', 'a(b)'].map(isToolPattern), [
    true,
    true,
    true,
    false,
    false,
    false,
  ]);
  t.strictSame(
    ['id', 'allowed_tools', 'sections.permission.x', 'sections.compaction.mode', 'delegates'].map(tabOf),
    ['basics', 'tools', 'plugins', 'advanced', 'delegates'],
  );
  t.strictSame(
    [...countByTab(['id', 'model_id', 'delegates'])],
    [
      ['basics', 2],
      ['delegates', 1],
    ],
  );
});

t.test('assigns messages of the service to fields', async (t) => {
  const first = (message: string) => [...saidOf(message, [], agentFieldIn)][0];
  t.strictSame(first("invalid payload: invalid agent spec: field 'max_rounds': must be a number"), [
    'max_rounds',
    "field 'max_rounds': must be a number",
  ]);
  const fields: [string, string][] = [
    ["invalid payload: invalid managed config: agent 'z' references missing model 'm'", 'model_id'],
    ['conflict: agents/default already exists', 'id'],
    [
      'invalid payload: invalid managed config: z: invalid config for plugin permission: section "permission" — default_behavior: must be one of',
      'sections.permission.default_behavior',
    ],
    [
      "invalid payload: agent spec 'z' has invalid tool catalog: allowed_tool_patterns[a\\] is not",
      'allowed_tool_patterns',
    ],
    ['invalid payload: invalid agent spec: timeout.seconds must be <= 86400, got 86401', 'stop_conditions'],
    [
      "invalid payload: invalid agent spec: missing field 'context_policy.max_context_tokens'",
      'context_policy.max_context_tokens',
    ],
    ["invalid payload: invalid agent spec: field 'stop[0]': must have at least 1 characters", 'stop'],
    ["invalid payload: invalid agent spec: field 'tool_choice.tool': must be a string", 'tool_choice'],
    ['invalid payload: invalid agent spec: provider_options.p must be an object', 'provider_options'],
    ['remote endpoint base_url must not be empty', 'backend'],
    ['something else', ''],
  ];
  for (const [message, field] of fields) t.equal(first(message)?.[0], field, message);
  t.strictSame(
    [
      ...saidOf(
        "invalid payload: invalid managed config: registry validation failed: agent 'z' delegates to missing agent 'n'; agent 'z' active hook filter references unloaded plugin 'x'",
        [],
        agentFieldIn,
      ).keys(),
    ],
    ['delegates', 'active_hook_filter'],
  );
});

t.test('accepts raw JSON only with known, unlocked fields and unmoved secrets', async (t) => {
  const draft = { ...stored, endpoint: { auth: { type: 'bearer', token: 'hush-hush' } } };
  const text = rawText(draft);
  t.notMatch(text, /hush/);
  t.match(text, /\n {2}"id": "helper"/);
  const read = (typed: string) =>
    readRaw(typed, draft, { locked: lockedFields(false, false), allowed: Object.keys(draft) });
  t.strictSame(read(text), { draft });
  t.match(read(text.replace('"max_rounds": 3,', '"max_rounds": 4,')), {
    draft: { endpoint: draft.endpoint },
  });
  const problem = (typed: string) => {
    const reading = read(typed);
    return 'problem' in reading ? `${reading.problem} ${reading.what}` : undefined;
  };
  t.match(problem('{'), /^raw\.syntax ./);
  t.equal(problem('[]'), 'raw.object ');
  t.equal(problem(text.replace('{', '{"colour": 1,')), 'raw.unknown colour');
  t.equal(problem(text.replace('"helper"', '"other"')), 'raw.locked id');
  t.match(
    problem(text.replace('"Be brief"', String(text.match(/"__.*__"/)))),
    /^raw\.secret \/backend\/config\/system_prompt/,
  );
  t.strictSame(lockedFields(true, true), ['created_at', 'updated_at', 'registry']);
  t.match(
    readRaw(text.replace('{', '{"colour": 1,'), draft, {
      locked: [],
      allowed: ['colour', ...Object.keys(draft)],
    }),
    {
      draft: { colour: 1 },
    },
  );
});

t.test('ignores malformed kept drafts', async (t) => {
  t.strictSame(keptFrom('{"spec":{"id":"a"},"kept":5}'), { spec: { id: 'a' }, kept: 5 });
  t.strictSame(keptFrom('{"spec":{"model_id":"m"}}'), { spec: { id: '', model_id: 'm' } });
  for (const nothing of [null, '', '{', '{}', '[]', '{"spec":1}']) t.equal(keptFrom(nothing), undefined);
});

t.test('decides which tools an agent sees, with the deciding entry', async (t) => {
  const tools = ['get_weather', 'get_stock', 'shell', 'mcp__my_files__read'];
  t.strictSame(selectionOf({}, 'allowed'), { names: [], patterns: ['*'] });
  t.strictSame(selectionOf({ allowed_tools: null }, 'allowed'), { names: [], patterns: [] });
  t.strictSame(
    verdictsOf(
      { allowed_tools: ['shell'], allowed_tool_patterns: ['get_*'], excluded_tools: ['get_stock'] },
      tools,
    ),
    [
      { id: 'get_weather', isVisible: true, reason: { kind: 'allowed', by: 'get_*' } },
      { id: 'get_stock', isVisible: false, reason: { kind: 'excluded', by: 'get_stock' } },
      { id: 'shell', isVisible: true, reason: { kind: 'allowed', by: 'shell' } },
      { id: 'mcp__my_files__read', isVisible: false, reason: { kind: 'unlisted' } },
    ],
  );
  t.strictSame(fieldsOf('allowed', { names: [], patterns: [] }), {
    allowed_tools: null,
    allowed_tool_patterns: null,
  });
  t.strictSame(fieldsOf('excluded', { names: ['a'], patterns: [] }), {
    excluded_tools: ['a'],
    excluded_tool_patterns: undefined,
  });
  const empty = { names: [], patterns: [] };
  t.equal(mcpPattern('my-files.'), 'mcp__my_files__*');
  t.ok(hasServer({ names: [], patterns: ['mcp__my-files__*'] }, 'my-files'));
  t.strictSame(withServer({ names: [], patterns: ['mcp__my-files__*', 'x'] }, 'my-files', true).patterns, [
    'x',
    'mcp__my_files__*',
  ]);
  t.strictSame(withServer({ names: [], patterns: ['mcp__my_files__*'] }, 'my-files', false).patterns, []);
  t.strictSame(matchesOf('mcp__my-files__*', tools, ['my-files']), ['mcp__my_files__read']);
  t.strictSame(withPattern(empty, ' a* ')?.patterns, ['a*']);
  t.equal(withPattern({ names: [], patterns: ['a'] }, 'a'), undefined);
  t.equal(withPattern(empty, ' '), undefined);
  const toggled = (spec: Record<string, unknown>, isVisible: boolean) =>
    JSON.parse(JSON.stringify({ ...spec, ...withTool(spec, 'shell', isVisible) }));
  t.match(toggled({}, false), { allowed_tool_patterns: ['*'], excluded_tools: ['shell'] });
  t.strictSame(toggled(toggled({}, false), true), { allowed_tools: null, allowed_tool_patterns: ['*'] });
  t.match(toggled({ allowed_tools: ['shell', 'x'] }, false), { allowed_tools: ['x'] });
  t.match(toggled({ allowed_tools: ['x'] }, true), { allowed_tools: ['x', 'shell'] });
  t.strictSame([tokensOf({ request_bytes: 401 }), tokensOf({ request_bytes: undefined })], [101, undefined]);
});

t.test('applies deny before allow and allow before ask, in any order of rules', async (t) => {
  await loadExpressions();
  const spec = {
    plugin_ids: ['permission'],
    sections: {
      permission: {
        default_behavior: 'ask',
        rules: [
          { tool: 'get_*', behavior: 'allow' },
          { tool: 'get_weather', behavior: 'ask' },
          { tool: '/^del/', behavior: 'deny' },
          { tool: 'delete_one', behavior: 'allow' },
          { tool: 'http(url ~ "*x*")', behavior: 'deny' },
          { tool: '/[/', behavior: 'deny' },
        ],
      },
    },
  };
  const of = (agent: object, tool: string) => permissionsOf({ ...agent }, [tool])[0];
  t.match(of(spec, 'get_weather'), { behavior: 'allow', by: 'get_*' });
  t.match(of(spec, 'delete_one'), { behavior: 'deny', by: '/^del/' });
  t.match(of(spec, 'other'), { behavior: 'ask', by: undefined });
  t.match(of(spec, 'http'), { behavior: 'ask', conditional: ['deny http(url ~ "*x*")'] });
  t.match(of({ ...spec, active_hook_filter: ['reminder'] }, 'delete_one'), { behavior: 'allow' });
  t.match(of({}, 'x'), { behavior: 'allow' });
  const asked = withDecision({ plugin_ids: ['reminder'], active_hook_filter: ['reminder'] }, 'shell', 'ask');
  t.strictSame(asked, {
    plugin_ids: ['reminder', 'permission'],
    active_hook_filter: ['reminder', 'permission'],
    sections: { permission: { default_behavior: 'allow', rules: [{ tool: 'shell', behavior: 'ask' }] } },
  });
  t.strictSame([of(asked, 'shell')?.behavior, of(asked, 'other')?.behavior], ['ask', 'allow']);
  t.match(withDecision(asked, 'shell', 'allow'), { sections: { permission: { rules: [] } } });
});

t.test('edits the allowed skills and detects hidden skill tools', async (t) => {
  t.equal(allowlistOf({}), undefined);
  t.equal(allowlistOf({ sections: { skills: { allowlist: null } } }), undefined);
  t.strictSame(allowlistOf({ sections: { skills: { ids: ['a'] } } }), ['a']);
  t.equal(skillsSection({ sections: { skills: { allowlist: ['a'] } } }, undefined), undefined);
  t.strictSame(skillsSection({ sections: { skills: { other: 1 } } }, []), { other: 1, allowlist: [] });
  const spec = { allowed_tools: ['a'], excluded_tools: ['skill'] };
  t.strictSame(hiddenSkillTools(spec, ['skill', 'a']), ['skill']);
  const fixed = withSkillTools(spec, ['skill']);
  t.strictSame(hiddenSkillTools(fixed, ['skill']), []);
  t.match(fixed, { allowed_tools: ['a', 'skill'] });
});

t.test('finds delegation cycles of any length', async (t) => {
  const others = new Map([
    ['b', ['c', 'd']],
    ['c', ['b']],
    ['d', ['a']],
  ]);
  t.strictSame(cycleThrough('a', ['b'], others), ['a', 'b', 'd', 'a']);
  t.strictSame(cycleThrough('a', ['a'], others), ['a', 'a']);
  t.equal(cycleThrough('x', ['b'], others), undefined);
});

t.test('derives versions from audit events and compares the older one first', async (t) => {
  const event = (id: string, action: string, before?: object, after?: object) => ({
    id,
    ts: '',
    actor: '',
    action,
    resource: 'agents/a',
    before: before && { ...before },
    after: after && { ...after },
    overrides: undefined,
    ip: undefined,
    request_id: undefined,
    restored_from: undefined,
    error: undefined,
  });
  t.strictSame(versionOf(event('1', 'delete', { a: 1 })), { a: 1 });
  t.strictSame(versionOf(event('1', 'update', { a: 1 }, { a: 2 })), { a: 2 });
  t.equal(versionOf(event('1', 'apply_failed', { a: 1 }, { a: 2 })), undefined);
  t.strictSame(withChosen(['1', '2'], '3', true), ['2', '3']);
  t.strictSame(withChosen(['1', '2'], '1', false), ['2']);
  const events = [event('3', 'update'), event('2', 'update'), event('1', 'create')];
  t.match(comparedIn(events, ['1', '3']), { before: { id: '1' }, after: { id: '3' } });
  t.equal(comparedIn(events, ['1']), undefined);
});

t.test('splits prompts', async (t) => {
  t.strictSame(
    piecesOf('Hi {name}, {{ x.y }}!').map(({ text, isVariable }) => `${isVariable ? '*' : ''}${text}`),
    ['Hi ', '*{name}', ', ', '*{{ x.y }}', '!'],
  );
  t.strictSame(piecesOf('').length, 1);
  t.strictSame(countsOf('a\nbcde'), { characters: 6, lines: 2, tokens: 2 });
});

/** The values of the examples of each guide. */
const LOCALLY: Called = { url: 'http://127.0.0.1:38080', agentId: 'default', key: undefined };
const IN_GUIDES: Partial<Record<Client, Called>> = {
  openWebUi: { url: 'https://agents.example', agentId: 'support', key: 'tpk_…' },
  libreChat: { url: 'https://agents.example', agentId: 'support', key: ['$', '{TROUPE_API_KEY}'].join('') },
  litellm: { ...LOCALLY, agentId: 'support', key: 'os.environ/TROUPE_API_KEY' },
};

/** Clients whose text is no example of a guide: the guides use chat completions. */
const ONLY_HERE: readonly Client[] = ['openaiTs', 'openaiPy'];

t.test('connects clients as their guides do', async (t) => {
  for (const client of CLIENT_IDS) {
    const guide = readFileSync(join(ROOT, `src/docs/guides/${CLIENTS[client].guide}.md`), 'utf8');
    const text = textFor(client, IN_GUIDES[client] ?? LOCALLY);
    if (!ONLY_HERE.includes(client)) t.ok(guide.includes(text), `${client}\n${text}`);
  }
});

t.test('quotes ids and keys in the texts of clients', async (t) => {
  const called = { url: 'http://x', agentId: `it's "1"`, key: 'tpk_1' };
  t.match(textFor('curl', called), `"model":"it'\\''s \\"1\\""`);
  t.match(textFor('curl', called), `-H 'authorization: Bearer tpk_1'`);
  t.match(textFor('aiSdk', called), `troupe('it\\'s "1"')`);
  t.match(textFor('langchainPy', called), `model="it's \\"1\\""`);
  t.match(textFor('libreChat', { ...called, agentId: 'true' }), 'default: ["true"]');
  t.match(textFor('litellm', { ...called, agentId: '1.0' }), 'model_name: "1.0"');
  for (const client of CLIENT_IDS) t.match(textFor(client, called), 'tpk_1', client);
});
