import t from 'tap';
import { isDirty, type Opened, saidOf, withFields } from '../../src/console/entry/entry.ts';
import { compareItems, isBlocking, resultsOf, toolUseOf, totalsOf } from '../../src/console/evals/compare.ts';
import { failureText } from '../../src/console/evals/failure-text.ts';
import { Item, keyOf } from '../../src/console/evals/report.ts';
import { texts as evalTexts } from '../../src/console/evals/texts.ts';
import { itemOf } from '../../src/console/fixtures/curate.ts';
import { isScriptable } from '../../src/console/fixtures/dataset.ts';
import { say } from '../../src/console/i18n/locale.ts';
import { factsOf } from '../../src/console/remote/status.ts';
import { tokenOf, withToken } from '../../src/console/screens/a2a-servers/server.ts';
import {
  fixtureOf,
  fixturesIn,
  freeId,
  problemsOf,
  summaryOf,
  typedOf,
  withFixture,
} from '../../src/console/screens/datasets/fixture.ts';
import { cellsOf, requestOf, USUAL } from '../../src/console/screens/datasets/run-request.ts';
import { texts as datasetTexts } from '../../src/console/screens/datasets/texts.ts';
import { creationOf, grouped, placeOf } from '../../src/console/screens/diagnostics/places.ts';
import { csvOf, markdownOf } from '../../src/console/screens/eval-reports/export.ts';
import { parseReport } from '../../src/console/screens/eval-reports/parse.ts';
import { areComparable, passRates } from '../../src/console/screens/eval-runs/runs.ts';
import * as mcp from '../../src/console/screens/mcp-servers/server.ts';
import * as pools from '../../src/console/screens/model-pools/pool.ts';
import * as models from '../../src/console/screens/models/model.ts';
import { failureOf } from '../../src/console/screens/models/model-test.ts';
import * as providers from '../../src/console/screens/providers/provider.ts';
import { bytesOf, parametersOf } from '../../src/console/screens/tool-editor/tool.ts';

/** What forms and lists of the configuration and of evaluations work out. */

const fieldsOf = (errors: ReadonlyMap<string, string>): string[] => [...errors.keys()].sort();

t.test(
  'a draft has what was typed and nothing that says nothing, and what is said of it is at its field',
  async (t) => {
    const opened: Opened = { isNew: false, start: { id: 'a', x: 1, extra: { deep: 1 } }, meta: undefined };
    t.strictSame(withFields(opened.start, { x: undefined, y: 2 }), { id: 'a', extra: { deep: 1 }, y: 2 });
    t.equal(isDirty(opened, { extra: { deep: 1 }, x: 1, id: 'a' }), false);
    t.equal(isDirty(opened, { id: 'a', x: 2, extra: { deep: 1 } }), true);
    const said = saidOf(
      "invalid payload: missing field 'adapter'; base_url must be a web address; it is late",
      ['id', 'adapter', 'base_url'],
    );
    t.strictSame(fieldsOf(said), ['', 'adapter', 'base_url']);
    t.strictSame(fieldsOf(saidOf('conflict: models/x already exists', ['id'])), ['id']);
    const ofServer = (text: string) => fieldsOf(saidOf(`invalid payload: ${text}`, ['id', ...mcp.FIELDS]));
    t.strictSame(ofServer('mcp transport error: spawn no-such-command ENOENT'), ['']);
    t.strictSame(ofServer("mcp server config cannot hold a redacted placeholder: field 'env.TOKEN'"), [
      'env',
    ]);
    t.strictSame(ofServer('url must be a web address'), ['url']);
  },
);

t.test(
  'a provider: a key is kept, replaced or removed, and what is wrong is seen before it is sent',
  async (t) => {
    const draft = { id: 'p', adapter: 'openai', has_api_key: true };
    t.strictSame(providers.bodyOf(draft), { id: 'p', adapter: 'openai' });
    t.strictSame(providers.bodyOf({ ...draft, api_key: '' }), { id: 'p', adapter: 'openai', api_key: '' });
    t.strictSame(fieldsOf(providers.check({ id: 'p', adapter: '', base_url: 'ftp://x', timeout_secs: 0 })), [
      'adapter',
      'base_url',
      'timeout_secs',
    ]);
    const vertex = {
      id: 'p',
      adapter: 'vertex',
      adapter_options: { credentials_kind: 'service_account_json' },
    };
    t.strictSame(fieldsOf(providers.check({ ...vertex, api_key: '{"client_email":"a"}' })), ['api_key']);
    t.equal(providers.check({ ...vertex, api_key: '{"client_email":"a","private_key":"b"}' }).size, 0);
    const options = { adapter_options: { headers: { a: 'b' }, other: 1, credentials_kind: 'bearer' } };
    t.strictSame(providers.otherOptions(options), { other: 1 });
    const azure = { adapter_options: { resource: 'r', client_secret: '***', headers: {}, other: 1 } };
    const fields = ['resource', 'client_secret'];
    t.strictSame(providers.otherOptions(azure, fields), { other: 1 });
    t.strictSame(providers.fieldOptions(azure, fields), {
      resource: 'r',
      client_secret: '***',
      headers: {},
    });
    const defaults = {
      azure: {
        base_url: null,
        key_variable: 'AZURE_OPENAI_API_KEY',
        docs_url: 'https://learn.microsoft.com/azure',
        options: [{ name: 'api', is_secret: false, choices: ['chat', 'responses'] }],
      },
      older: { base_url: 'https://a.example/', key_variable: 'A_API_KEY' },
    };
    t.match(providers.defaultOf(defaults, 'azure'), {
      options: [{ name: 'api', choices: ['chat', 'responses'] }],
    });
    t.match(providers.defaultOf(defaults, 'older'), { options: [] });
    t.strictSame(providers.withOptions(options, { headers: {} }), {
      adapter_options: { other: 1, credentials_kind: 'bearer' },
    });
    t.strictSame(providers.withOptions({}, { headers: {} }), { adapter_options: undefined });
  },
);

t.test('a model: more output than context, a month that there is not, a price below nothing', async (t) => {
  const wrong = {
    id: 'm',
    provider_id: '',
    upstream_model: ' ',
    context_window: 10,
    max_output_tokens: 11,
    knowledge_cutoff: '2024-13',
    input_token_price_per_million_usd: -1,
    output_token_price_per_million_usd: 'much',
    cached_input_token_price_per_million_usd: -1,
    cache_write_5m_token_price_per_million_usd: 'x',
    cache_write_1h_token_price_per_million_usd: -2,
    reasoning_token_price_per_million_usd: 0,
  };
  t.strictSame(fieldsOf(models.check(new Set(['m']))(wrong)), [
    'cache_write_1h_token_price_per_million_usd',
    'cache_write_5m_token_price_per_million_usd',
    'cached_input_token_price_per_million_usd',
    'id',
    'input_token_price_per_million_usd',
    'knowledge_cutoff',
    'max_output_tokens',
    'output_token_price_per_million_usd',
    'provider_id',
    'upstream_model',
  ]);
  t.same(['2024-02', '2024-02-29', '2023-02-29', '2024-2', '2024-13x'].map(models.isDate), [
    true,
    true,
    false,
    false,
    false,
  ]);
  const draft = { id: 'm', modalities: { input: ['text'] } };
  t.strictSame(models.withModality(draft, 'input', 'image', true), {
    modalities: { input: ['text', 'image'] },
  });
  t.strictSame(models.withModality(draft, 'input', 'text', false), { modalities: undefined });
  const answer = (runtime_failure: unknown) =>
    ({ cell: undefined, report: { final_text: '', runtime_failure } }) as Parameters<typeof failureOf>[0];
  t.equal(failureOf(answer(undefined)), undefined);
  t.equal(failureOf(answer({ kind: 'runtime_error', message: 'no key' })), 'no key');
});

t.test(
  'shows what is known of a model in fields that are empty, but not next to a price of the entry',
  async (t) => {
    const known = {
      context_window: 200_000,
      input_token_price_per_million_usd: 3,
      output_token_price_per_million_usd: 15,
      cached_input_token_price_per_million_usd: 0.3,
      reasoning_token_price_per_million_usd: 20,
      knowledge_cutoff: '2025-01',
      modalities: { input: ['text'] },
    };
    const shown = (more: object) => Object.fromEntries(models.placeholdersOf({ id: 'm', ...more }, known));
    const { modalities: _, ...figures } = known;
    t.strictSame(
      shown({}),
      Object.fromEntries(Object.entries(figures).map(([field, value]) => [field, String(value)])),
    );
    t.notOk('cached_input_token_price_per_million_usd' in shown({ input_token_price_per_million_usd: 0 }));
    t.match(shown({ input_token_price_per_million_usd: 0 }), { reasoning_token_price_per_million_usd: '20' });
    t.notOk('reasoning_token_price_per_million_usd' in shown({ output_token_price_per_million_usd: 1 }));
    t.equal(models.placeholdersOf({ id: 'm' }, {}).size, 0);
  },
);

t.test('a pool: only stand-ins, somebody twice, nobody, and who is asked while some are down', async (t) => {
  const member = (model_id: string, more: object = {}) => ({
    model_id,
    weight: 1,
    role: 'member' as const,
    ...more,
  });
  const spare = member('c', { role: 'failover_only' });
  const check = pools.check(new Set(['taken']));
  t.strictSame(fieldsOf(check({ id: 'p', members: [] })), ['members']);
  t.strictSame(fieldsOf(check({ id: 'p', members: [spare] })), ['members']);
  t.strictSame(fieldsOf(check({ id: 'p', members: [member('a'), member('a')] })), ['members']);
  t.strictSame(fieldsOf(check({ id: 'p', members: [member('a', { weight: 0 })] })), ['members']);
  t.strictSame(
    fieldsOf(check({ id: 'taken', members: [member('a')], switch: { max_switches_per_session: -1 } })),
    ['id', 'switch.max_switches_per_session'],
  );
  t.equal(check({ id: 'p', members: [member('a'), spare] }).size, 0);
  const members = pools.membersOf({ id: 'p', members: [member('a', { weight: 3 }), member('b'), spare] });
  const picks = (home: string, ...down: string[]) => pools.picksOf(members, home, new Set(down));
  t.strictSame(picks('deterministic'), [
    { model_id: 'a', share: 0.75 },
    { model_id: 'b', share: 0.25 },
  ]);
  t.strictSame(picks('first_healthy', 'a'), [{ model_id: 'b', share: 1 }]);
  t.strictSame(picks('round_robin', 'a', 'b'), [{ model_id: 'c', share: 1 }]);
  t.strictSame(picks('deterministic', 'a', 'b', 'c'), []);
  t.strictSame(pools.moved(['a', 'b', 'c'], 2, -1), ['a', 'c', 'b']);
});

t.test(
  'an MCP server: who has given up is not who tries again, and pauses are those of its policy',
  async (t) => {
    const status = {
      connected: false,
      reconnecting: false,
      permanently_failed: false,
      consecutive_failures: 0,
    };
    t.equal(mcp.healthOf({ ...status, last_attempt_at: null }), 'neverProbed');
    t.equal(mcp.healthOf({ ...status, connected: true, last_attempt_at: 1 }), 'connected');
    t.equal(mcp.healthOf({ ...status, reconnecting: true, consecutive_failures: 2 }), 'reconnecting');
    t.equal(mcp.healthOf({ ...status, consecutive_failures: 2, last_attempt_at: 1 }), 'failing');
    t.equal(mcp.healthOf({ ...status, permanently_failed: true, reconnecting: true }), 'givenUp');
    t.strictSame(fieldsOf(mcp.check({ id: 'm', transport: 'stdio', command: ' ', config: 'no' })), [
      'command',
      'config',
    ]);
    t.strictSame(fieldsOf(mcp.check({ id: 'm', transport: 'http' })), ['url']);
    t.strictSame(
      mcp.bodyOf({ id: 'm', transport: 'http', url: 'u', command: 'c', env_keys: ['A'], has_env: true }),
      {
        id: 'm',
        transport: 'http',
        url: 'u',
      },
    );
    t.strictSame(mcp.scheduleOf({ max_attempts: 3 }), { pauses: [1000, 2000, 4000], givesUp: true });
    t.match(mcp.scheduleOf({ delay_ms: 20_000 }), { givesUp: false, pauses: [20_000, 30_000] });
  },
);

t.test('a token of an A2A server, and a card of a stranger', async (t) => {
  t.strictSame(withToken('x', true), { auth: { type: 'bearer', token: 'x' } });
  t.strictSame(withToken('', true), { auth: null });
  t.strictSame(withToken('', false), { auth: undefined });
  t.equal(tokenOf({ id: 'a' }), undefined);
  t.equal(tokenOf({ id: 'a', auth: null }), '');
  t.match(
    factsOf({
      name: 7,
      skills: 'many',
      supportedInterfaces: [{ url: 'u' }, null],
      securitySchemes: { k: {} },
    }),
    {
      name: undefined,
      skills: [],
      interfaces: ['u'],
      auth: ['k'],
    },
  );
});

t.test('a description is counted in bytes, and a schema is told in words', async (t) => {
  t.equal(bytesOf('天'.repeat(1365)), 4095);
  t.equal(bytesOf(`${'天'.repeat(1365)}é`), 4097);
  const schema = {
    required: ['a'],
    properties: {
      a: { type: 'array', items: { type: 'string' } },
      b: { enum: ['x', 1] },
      c: { anyOf: [{ type: 'null' }, { $ref: '#/$defs/Place' }], description: 'where' },
      d: 5,
    },
  };
  t.strictSame(parametersOf(schema), [
    { name: 'a', type: 'string[]', isRequired: true, description: '' },
    { name: 'b', type: '"x" | 1', isRequired: false, description: '' },
    { name: 'c', type: 'null | Place', isRequired: false, description: 'where' },
  ]);
});

const item = (fixture_id: string, passed: boolean, more: object = {}) =>
  Item({ fixture_id, report: { fixture_id, passed, final_text: 'Hello', ...more } }, '');

t.test('results are compared as the service compares them, and the worst comes first', async (t) => {
  const before = [
    item('same', true),
    item('worse', true),
    item('better', false),
    item('drifts', true),
    item('gone', true),
  ];
  const now = [
    item('same', true, { session_duration_ms: 9, judge_reasoning: 'well' }),
    item('worse', false, { failures: [{ kind: 'forbidden_tool_used', tool: 'rm' }] }),
    item('better', true),
    item('drifts', true, { final_text: 'Hi' }),
    item('new', false),
  ];
  const entries = compareItems(now, before);
  t.strictSame(Object.fromEntries(entries.map(({ fixture_id, kind }) => [fixture_id, kind])), {
    same: 'unchanged',
    worse: 'regression',
    better: 'fixed',
    drifts: 'drift',
    new: 'newly_added',
    gone: 'missing_from_new',
  });
  t.strictSame(entries.find(({ kind }) => kind === 'drift')?.fields, ['final_text']);
  t.equal(entries.filter(isBlocking).length, 4);
  const results = resultsOf(now, entries, before);
  t.strictSame(
    results.map(({ item: { fixture_id } }) => fixture_id),
    ['worse', 'gone', 'drifts', 'new', 'better', 'same'],
  );
  t.match(results[1], { isGone: true });
  t.match(totalsOf(now), { items: 5, passed: 3, cost: undefined });
  t.match(totalsOf([item('1', true, { cost_usd: 0.5 }), item('2', true)]), { cost: 0.5 });
  t.strictSame([...totalsOf(now).failures], [['forbidden_tool_used', 1]]);
  const tally = { tool_calls_by_agent: [{ agent_id: 'a', tool: 'x', call_count: 2, failure_count: 1 }] };
  t.match(toolUseOf([item('1', true, tally), item('2', true, tally)]), [
    { calls: 4, failures: 2, fixtures: 2 },
  ]);
  t.not(keyOf({ fixture_id: 'a', sample_index: 1 }), keyOf({ fixture_id: 'a' }));
});

t.test('failures are told in words, and new kinds as they came', async (t) => {
  const tell = (failure: { kind: string; [key: string]: unknown }): string =>
    failureText(failure, (key, values) => say(evalTexts, key, values));
  t.match(tell({ kind: 'answer_missing_phrase', phrase: 'hello' }), /hello/);
  t.match(tell({ kind: 'tool_sequence_mismatch', expected: ['a'], actual: [] }), /— instead of a/);
  t.match(
    tell({ kind: 'replay_runtime_failure', failure: { kind: 'script_exhausted', extra_calls: 2 } }),
    /script_exhausted, extra_calls 2/,
  );
  t.match(tell({ kind: 'of_tomorrow', why: 'x' }), /of_tomorrow \{"why":"x"\}/);
  t.notMatch(tell({ kind: 'scorer_failed', scorer: 's', message: 'Bearer abcdefghijkl' }), /abcdefghijkl/);
});

t.test('a file of results is read line by line, whatever is in it', async (t) => {
  const line = (value: unknown): string => JSON.stringify(value);
  const text = [
    line({ fixture_id: 'a', passed: true }),
    '',
    '{ broken',
    line({ passed: true }),
    line({ fixture_id: 'b' }),
    line([1]),
    line({ fixture_id: 'c', passed: false, failures: 'many' }),
    line({ fixture_id: 'a', passed: false, failures: [{ kind: 'replay_runtime_failure' }] }),
  ].join('\r\n');
  const { items, issues } = await parseReport(`\uFEFF${text}`);
  t.strictSame(
    items.map(({ fixture_id, sample_index }) => [fixture_id, sample_index]),
    [
      ['a', undefined],
      ['a', 1],
    ],
  );
  t.strictSame(
    issues.map(({ line: at, reason }) => [at, reason]),
    [
      [3, 'json'],
      [4, 'fixture'],
      [5, 'passed'],
      [6, 'object'],
      [7, 'shape'],
    ],
  );
  const run = {
    run: { items: [{ fixture_id: 'x', cell: { model_id: 'm' }, report: { fixture_id: 'x', passed: true } }] },
  };
  t.match((await parseReport(JSON.stringify(run, null, 2))).items, [
    { fixture_id: 'x', cell: { model_id: 'm' } },
  ]);
  t.match(await parseReport(line({ fixture_id: 'one', passed: true })), {
    items: [{ fixture_id: 'one' }],
    issues: [],
  });
  t.strictSame(await parseReport(''), { items: [], issues: [] });

  const shares: number[] = [];
  const many = Array.from({ length: 20_001 }, (_, n) =>
    line({ fixture_id: `f${n}`, passed: n % 2 === 0 }),
  ).join('\n');
  const read = await parseReport(many, async (share) => void shares.push(share));
  t.equal(read.items.length, 20_001);
  t.ok(shares.length >= 10 && shares.every((share) => share > 0 && share < 1));
});

t.test('what is exported holds whatever is in it', async (t) => {
  const results = resultsOf([
    item('=cmd|"x"', false, { failures: [{ kind: 'forbidden_tool_used', tool: 'a,b' }] }),
  ]);
  t.match(csvOf(results).split('\r\n')[1], /^"'=cmd\|""x""",,false,,"[^"]*a,b[^"]*"/);
  t.match(markdownOf(results, totalsOf(results.map((result) => result.item))), /=cmd\\\|"x"/);
});

t.test('a test case is what was typed, and keeps what the form has no field for', async (t) => {
  const tell = (key: keyof typeof datasetTexts.en, values?: Record<string, string | number>): string =>
    say(datasetTexts, key, values);
  const before = {
    id: 'a',
    user_input: 'Hi',
    source_run_id: 'r',
    expect: {
      final_answer_contains: ['x'],
      tool_sequence: ['t'],
      tool_sequence_mode: 'ordered_subseq',
      scorers: [{ kind: 'equals', text: 'x' }],
    },
    provider_script: [{ kind: 'chat_response', content: 'Hi' }],
  };
  t.strictSame(fixtureOf(typedOf(before), before), before);
  const typed = {
    ...typedOf({}),
    id: 'b',
    input: 'Hi',
    contains: 'x\n\n y ',
    tokens: '5',
    judge: '0.5',
    isLoose: true,
  };
  t.strictSame(fixtureOf(typed, {}), {
    id: 'b',
    user_input: 'Hi',
    expect: { final_answer_contains: ['x', ' y '], max_tokens_total: 5, min_judge_score: 0.5 },
  });
  const wrong = {
    ...typed,
    id: 'taken',
    input: ' ',
    script: '{}',
    turns: '[',
    more: '[]',
    tokens: '-1',
    judge: '2',
  };
  t.strictSame(Object.keys(problemsOf(wrong, new Set(['taken']), tell)).sort(), [
    'id',
    'input',
    'judge',
    'more',
    'script',
    'tokens',
    'turns',
  ]);
  t.match(
    summaryOf({ ...before.expect, max_tokens_total: 5 }, tell),
    /says “x”; calls t; scorers: …; at most 5 tokens/,
  );
  t.equal(freeId('a', new Set(['a', 'a-2'])), 'a-3');
  t.strictSame(withFixture([{ id: 'a' }, { id: 'b' }], 'a', { id: 'c' }), [{ id: 'c' }, { id: 'b' }]);
  const opened = {
    id: 'a',
    user_input: 'Hi',
    expect: { max_tokens_total: 5, tool_sequence: ['t'] },
    extra: 1,
  };
  const theirs = {
    ...opened,
    description: 'New',
    extra: 2,
    expect: { max_tokens_total: 9, tool_sequence: ['t'] },
  };
  const mine = {
    id: 'a',
    user_input: 'Hello',
    expect: { max_tokens_total: 5, forbidden_tools: ['x'] },
    extra: 1,
  };
  t.strictSame(
    withFixture([theirs], 'a', mine, opened),
    [
      {
        id: 'a',
        user_input: 'Hello',
        expect: { max_tokens_total: 9, forbidden_tools: ['x'] },
        extra: 2,
        description: 'New',
      },
    ],
    'what two have changed of a test case is both there',
  );
  t.strictSame(
    withFixture([{ id: 'b' }], 'a', { id: 'a' }),
    [{ id: 'b' }, { id: 'a' }],
    'what is gone comes back',
  );
  t.strictSame(fixturesIn('{"id":"d","spec":{"fixtures":[{"id":"a"},5]}}'), [{ id: 'a' }]);
  t.strictSame(fixturesIn('[{"id":"a"}]'), [{ id: 'a' }]);
  t.throws(() => fixturesIn('{"spec":{}}'), /fixtures/);
});

t.test('a run is asked for with nothing that is as usual', async (t) => {
  const none = { provider_script: undefined, provider_script_error: undefined, mock_response: undefined };
  t.equal(isScriptable(none), false);
  t.equal(isScriptable({ ...none, mock_response: { kind: 'text', text: '' } }), false);
  t.equal(isScriptable({ ...none, mock_response: { kind: 'text', text: 'Hi' } }), true);
  t.equal(isScriptable({ ...none, provider_script: [{}] }), true);
  t.equal(isScriptable({ ...none, provider_script: [{}], provider_script_error: 'cut' }), false);
  t.strictSame(requestOf('d', USUAL), { dataset_id: 'd', mode: 'scripted', async: true });
  const live = {
    ...USUAL,
    mode: 'live' as const,
    models: ['m'],
    samples: 3,
    judge: 'j',
    rubric: 'kind',
    seconds: '9',
  };
  t.strictSame(requestOf('d', live), {
    dataset_id: 'd',
    mode: 'live',
    models: ['m'],
    samples: 3,
    judge: { model_id: 'j', rubric: 'kind' },
    max_walltime_secs: 9,
    async: true,
  });
  t.equal(cellsOf(live, 4), 12);
  t.equal(cellsOf(USUAL, 4), 4);
  const run = { dataset_id: 'd', dataset_revision: 1, execution_mode: 'live' };
  t.equal(areComparable(run, { ...run, dataset_revision: 2 }), false);
  const summary = {
    ...run,
    id: '1',
    started_at_secs: 1,
    ended_at_secs: 2,
    item_count: 2,
    passed_count: 1,
    failed_count: 1,
    status: undefined,
    planned_item_count: undefined,
  };
  t.strictSame(
    passRates([{ ...summary, passed_count: 2 }, summary, { ...summary, item_count: 0 }], 'd'),
    [0.5, 1],
  );
  const wanted = {
    runId: 'r',
    dataset: '',
    newId: 'n',
    newDescription: '',
    fixtureId: '',
    description: 'why',
    phrase: 'hi',
    script: 'skip' as const,
  };
  t.strictSame(itemOf(wanted), {
    from_run_id: 'r',
    description: 'why',
    provider_script_mode: 'skip',
    expected: { final_answer_contains: ['hi'] },
  });
});

t.test('what leads nowhere is told the worst first, with the place where it is put right', async (t) => {
  const found = (code: string, severity: string, namespace = 'agents') => ({
    code,
    severity,
    resource: { namespace, id: 'a/b' },
    depends_on: { namespace: 'models', id: 'gone' },
    message: '',
  });
  const all = [found('x', 'warning'), found('y', 'error'), found('z', 'of tomorrow')];
  t.strictSame(
    grouped(all).map(([severity, own]) => [severity, own.length]),
    [
      ['error', 1],
      ['warning', 1],
      ['other', 1],
    ],
  );
  t.strictSame(grouped([]), []);
  t.equal(placeOf(found('agent_missing_model', 'error')), '/agents/a%2Fb');
  t.equal(placeOf(found('agent_missing_plugin', 'error')), '/agents/a%2Fb?tab=plugins');
  t.equal(placeOf(found('x', 'error', 'of-tomorrow')), undefined);
  t.equal(creationOf({ namespace: 'models', id: 'gone' }), '/models?new=1');
  t.equal(creationOf({ namespace: 'plugins', id: 'gone' }), undefined);
});
