import t from 'tap';
import { adapterOf } from '../../src/console/connect-model/adapters.ts';
import { idFrom, withIds } from '../../src/console/connect-model/connect.ts';
import { outcomeOf } from '../../src/console/connect-model/provider-test.ts';
import { ModelFigures, NOTHING_KNOWN } from '../../src/console/data/resources.ts';
import {
  copyOf,
  freeId,
  isDirty,
  type Opened,
  saidOf,
  withFields,
  writtenOf,
} from '../../src/console/entry/entry.ts';
import {
  blocks,
  passRateOf,
  resultsOf,
  toolUseOf,
  totalsOf,
} from '../../src/console/eval-results/compare.ts';
import { failureText } from '../../src/console/eval-results/failure-text.ts';
import { Item } from '../../src/console/eval-results/report.ts';
import evalTexts from '../../src/console/eval-results/texts.json' with { type: 'json' };
import { type Sides, sidesOf } from '../../src/console/eval-results/use-sides.ts';
import { itemOf } from '../../src/console/fixtures/curate.ts';
import { isScriptable } from '../../src/console/fixtures/dataset.ts';
import { expectationsOf } from '../../src/console/fixtures/expectations.ts';
import fixtureTexts from '../../src/console/fixtures/texts.json' with { type: 'json' };
import { type Say, say } from '../../src/console/i18n/locale.ts';
import { factsOf, refusedHostIn } from '../../src/console/remote/status.ts';
import { problemsIn } from '../../src/console/schema-form/check.ts';
import { loadExpressions } from '../../src/console/schema-form/expressions.ts';
import { authOf, tokenOf } from '../../src/console/screens/a2a-servers/a2a-server.ts';
import { fixturesIn, withFixture } from '../../src/console/screens/datasets/fixture.ts';
import { FIXTURE } from '../../src/console/screens/datasets/fixture-schema.ts';
import { cellsOf, requestOf } from '../../src/console/screens/datasets/run-request.ts';
import { creationOf, grouped, placeOf } from '../../src/console/screens/diagnostics/diagnosed-resource.ts';
import { csvOf, markdownOf } from '../../src/console/screens/eval-reports/export.ts';
import { parseReport } from '../../src/console/screens/eval-reports/parse-report.ts';
import { nameOf, obstacleOf, passRates } from '../../src/console/screens/eval-runs/runs.ts';
import runTexts from '../../src/console/screens/eval-runs/texts.json' with { type: 'json' };
import * as mcp from '../../src/console/screens/mcp-servers/mcp-server.ts';
import * as pools from '../../src/console/screens/model-pools/pool.ts';
import * as models from '../../src/console/screens/models/model.ts';
import { failureOf } from '../../src/console/screens/models/model.ts';
import * as providers from '../../src/console/screens/providers/provider.ts';
import { bytesOf, parametersOf } from '../../src/console/screens/tools/tool.ts';

/** Logic of the forms and lists for the configuration and evaluations. */

const fieldsOf = (errors: Iterable<readonly [field: string, text: string]>): string[] =>
  [...errors].map(([field]) => field).sort();

t.test(
  'drops unset fields from a draft, detects its changes, and assigns messages of the service to fields',
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
    const ofServer = (text: string) =>
      fieldsOf(saidOf(`invalid payload: ${text}`, ['id', 'command', 'url', 'env', 'restart_policy']));
    t.strictSame(ofServer('mcp transport error: spawn no-such-command ENOENT'), ['']);
    t.strictSame(ofServer("mcp server config cannot hold a redacted placeholder: field 'env.TOKEN'"), [
      'env',
    ]);
    t.strictSame(ofServer('url must be a web address'), ['url']);
  },
);

t.test('writes and copies entries without the facts and the masks of their secrets', async (t) => {
  const stored = {
    id: 'p',
    adapter: 'openai',
    has_api_key: true,
    env_keys: ['A'],
    adapter_options: { client_secret: '***', headers: { 'x-key': '***', plain: 'y' } },
    args: ['***', 'b'],
  };
  t.strictSame(writtenOf({ id: 'p', has_auth: true, api_key: '' }), { id: 'p', api_key: '' });
  t.strictSame(copyOf(stored), {
    id: 'p-copy',
    adapter: 'openai',
    adapter_options: { headers: { plain: 'y' } },
    args: ['***', 'b'],
  });
});

t.test('divides the options of a provider by its adapter, and checks the key of an account', async (t) => {
  const vertex = {
    id: 'p',
    adapter: 'vertex',
    adapter_options: { credentials_kind: 'service_account_json' },
  };
  t.strictSame(fieldsOf(providers.check({ ...vertex, api_key: '{"client_email":"a"}' })), ['api_key']);
  t.strictSame(providers.check({ ...vertex, api_key: '{"client_email":"a","private_key":"b"}' }), []);
  const defaults = {
    azure: {
      base_url: null,
      docs_url: 'https://learn.microsoft.com/azure',
      options: [
        { name: 'api', is_secret: false, choices: ['chat', 'responses'] },
        { name: 'client_secret', is_secret: true },
      ],
    },
    older: { base_url: 'https://a.example/' },
  };
  const schema = providers.optionSchema(adapterOf(defaults, 'azure'));
  t.match(schema.properties, {
    api: { enum: ['chat', 'responses'] },
    client_secret: { type: 'string', writeOnly: true },
  });
  const options = { api: 'chat', client_secret: '***', headers: { a: 'b' }, other: 1 };
  t.strictSame(providers.divided(options, schema), {
    known: { api: 'chat', client_secret: '***', headers: { a: 'b' } },
    others: { other: 1 },
  });
  t.match(adapterOf(defaults, 'older'), { options: [] });
  t.match(adapterOf(defaults, 'unknown'), { options: [], base_url: undefined });
  t.strictSame(providers.optionsOf({ headers: {}, api: undefined, other: 1 }), { other: 1 });
  t.equal(providers.optionsOf({ headers: {} }), undefined);
});

t.test('names the reason of a failed provider test', async (t) => {
  const outcome = (more: object, hasKey = true) =>
    outcomeOf({ ok: false, network_tested: true, status: undefined, error: undefined, ...more }, hasKey);
  t.match(outcome({ status: 401 }), { key: 'test.key', values: { status: 401 } });
  t.match(outcome({ status: 400 }), { key: 'test.key' });
  t.match(outcome({ status: 401 }, false), { key: 'test.noKey' });
  t.match(outcome({ status: 400 }, false), { key: 'test.status' });
  t.match(outcome({ status: 503 }), { key: 'test.status', values: { status: 503 } });
  t.match(outcome({ error: 'http://a.example/v1/models: no connection (ECONNREFUSED)' }), {
    key: 'test.failed',
    values: { reason: 'No connection (ECONNREFUSED)' },
  });
  t.match(outcome({ ok: true }), { key: 'test.ok' });
  t.match(outcome({ ok: true, network_tested: false }), { key: 'test.config' });
});

t.test('validates the limits and the date of a model', async (t) => {
  const wrong = { id: 'm', context_window: 10, max_output_tokens: 11, knowledge_cutoff: '2024-13' };
  t.strictSame(fieldsOf(models.check(wrong)), ['knowledge_cutoff', 'max_output_tokens']);
  t.same(['2024-02', '2024-02-29', '2023-02-29', '2024-2', '2024-13x'].map(models.isDate), [
    true,
    true,
    false,
    false,
    false,
  ]);
  t.equal(failureOf({ runtime_failure: undefined }), undefined);
  t.equal(failureOf({ runtime_failure: { kind: 'runtime_error', message: 'no key' } }), 'no key');
  t.equal(failureOf({ runtime_failure: { kind: 'timeout' } }), '{"kind":"timeout"}');
});

t.test(
  'shows built-in figures for empty fields, except for the parts of a price that the entry itself sets',
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
    const shown = (more: object) =>
      Object.fromEntries(
        Object.entries(models.defaultsOf({ id: 'm', ...more }, ModelFigures(known, ''))).map(
          ([field, schema]) => [field, schema.default],
        ),
      );
    const { modalities: _, ...figures } = known;
    t.strictSame(shown({}), figures);
    t.notOk('cached_input_token_price_per_million_usd' in shown({ input_token_price_per_million_usd: 0 }));
    t.match(shown({ input_token_price_per_million_usd: 0 }), { reasoning_token_price_per_million_usd: 20 });
    t.notOk('reasoning_token_price_per_million_usd' in shown({ output_token_price_per_million_usd: 1 }));
    t.strictSame(models.defaultsOf({ id: 'm' }, NOTHING_KNOWN), {});
  },
);

t.test('validates a pool and previews its failover', async (t) => {
  const member = (model_id: string, more: object = {}) => ({
    model_id,
    weight: 1,
    role: 'member' as const,
    ...more,
  });
  const spare = member('c', { role: 'failover_only' });
  const { check } = pools;
  t.strictSame(fieldsOf(check({ id: 'p', members: [] })), ['members']);
  t.strictSame(fieldsOf(check({ id: 'p', members: [spare] })), ['members']);
  t.strictSame(fieldsOf(check({ id: 'p', members: [member('a'), member('a')] })), ['members']);
  t.strictSame(fieldsOf(check({ id: 'p', members: [member('a', { weight: 0 })] })), ['members']);
  t.strictSame(check({ id: 'p', members: [member('a'), spare] }), []);
  const members = pools.membersOf({ id: 'p', members: [member('a', { weight: 3 }), member('b'), spare] });
  const picks = (home: string, ...down: string[]) => pools.picksOf(members, home, new Set(down));
  t.strictSame(picks('deterministic'), [
    { model_id: 'a', share: 0.75 },
    { model_id: 'b', share: 0.25 },
  ]);
  t.strictSame(picks('first_healthy', 'a'), [{ model_id: 'b', share: 1 }]);
  t.strictSame(picks('round_robin', 'a', 'b'), [{ model_id: 'c', share: 1 }]);
  t.strictSame(picks('deterministic', 'a', 'b', 'c'), []);
});

t.test(
  'derives the health of an MCP server, validates its form, and computes the delays of its policy',
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
    t.strictSame(fieldsOf(mcp.check({ id: 'm', transport: 'stdio', command: ' ' })), ['command']);
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

t.test('reads MCP servers from the configurations of other clients', async (t) => {
  const files = { command: 'npx', args: ['-y', 'server-files', '/tmp'], env: { TOKEN: 'x' } };
  const spec = { id: 'my-files', transport: 'stdio', ...files };
  const remote = { url: 'https://a.example/mcp', headers: { authorization: 'Bearer x' } };
  t.strictSame(mcp.serversIn(JSON.stringify({ mcpServers: { 'my files': files } })), [spec]);
  t.strictSame(mcp.serversIn(JSON.stringify({ servers: { 'my-files': files, broken: {} } })), [spec]);
  t.strictSame(mcp.serversIn(`"my-files": ${JSON.stringify(files)},`), [spec], 'braces may be missing');
  t.strictSame(mcp.serversIn(JSON.stringify(remote)), [
    { id: '', transport: 'http', url: remote.url, config: { headers: remote.headers } },
  ]);
  for (const nothing of ['', '{', '[]', '{"mcpServers":{}}', '5'])
    t.strictSame(mcp.serversIn(nothing), [], nothing);
});

t.test('edits the token of an A2A server and reads malformed agent cards', async (t) => {
  t.strictSame(authOf('x', true), { type: 'bearer', token: 'x' });
  t.equal(authOf('', true), null);
  t.equal(authOf('', false), undefined);
  t.equal(
    refusedHostIn({ last_error: 'A2A discovery URL resolves to a non-public address: 10.0.0.1' }),
    '10.0.0.1',
  );
  t.equal(refusedHostIn({ last_error: 'A2A discovery URL host is not allowed' }), 'localhost');
  t.equal(refusedHostIn({ last_error: 'no answer within 500 ms' }), undefined);
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

t.test('counts description bytes and lists the parameters of a tool', async (t) => {
  t.equal(bytesOf('天'.repeat(1365)), 4095);
  t.equal(bytesOf(`${'天'.repeat(1365)}é`), 4097);
  const schema = {
    required: ['a'],
    properties: {
      a: { type: 'array', items: { type: 'string' } },
      b: { enum: ['x', 1] },
      c: { anyOf: [{ type: 'null' }, { $ref: '#/$defs/Place' }], description: 'where' },
      d: { type: 'array', items: { $ref: '#/$defs/Place' } },
      e: 5,
    },
    $defs: { Place: { type: 'object', required: ['city'], properties: { city: { type: 'string' } } } },
  };
  const row = (name: string, type: string, isRequired = false, description = '') => ({
    ...{ name, type, isRequired, description },
  });
  t.strictSame(parametersOf(schema), [
    row('a', 'string[]', true),
    row('b', '"x" | 1'),
    row('c', 'object | null', false, 'where'),
    row('c.city', 'string', true),
    row('d', 'object[]'),
    row('d[].city', 'string', true),
    row('e', 'any'),
  ]);
  const tree = { properties: { below: { $ref: '#' } } };
  t.equal(parametersOf(tree).at(-1)?.name, 'below.below.below.below');
});

const item = (fixture_id: string, passed: boolean, more: object = {}) =>
  Item({ fixture_id, report: { fixture_id, passed, final_text: 'Hello', ...more } }, '');

t.test('compares eval results by the rules of the service and sorts them by severity', async (t) => {
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
  const results = resultsOf(now, before);
  t.strictSame(
    results.map(({ item: { fixture_id }, verdict }) => [fixture_id, verdict]),
    [
      ['worse', 'worse'],
      ['gone', 'missing'],
      ['drifts', 'changed'],
      ['new', 'new'],
      ['better', 'better'],
      ['same', 'same'],
    ],
  );
  t.match(results[1], { isGone: true });
  t.match(results[2], { entry: { kind: 'drift', fields: ['final_text'] } });
  t.equal(results.filter(blocks).length, 4);
  t.match(totalsOf(now), { items: 5, counts: { passed: 3, failed: 2 }, cost: undefined });
  t.match(totalsOf([item('1', true, { cost_usd: 0.5, judge_cost_usd: 0.25 }), item('2', true)]), {
    cost: 0.75,
  });
  t.strictSame([...totalsOf(now).failures], [['forbidden_tool_used', 1]]);
  const tally = { tool_calls_by_agent: [{ agent_id: 'a', tool: 'x', call_count: 2, failure_count: 1 }] };
  t.match(toolUseOf([item('1', true, tally), item('2', true, tally)]), [
    { calls: 4, failures: 2, fixtures: 2 },
  ]);
});

const ofModel = (model_id: string, items: Item[]): Item[] =>
  items.map((one) => ({ ...one, cell: { model_id, agent_id: undefined, variant_id: undefined } }));

t.test('matches the results of different models by test case', async (t) => {
  const large = ofModel('large', [
    item('both', true),
    item('lost', true),
    item('won', false),
    item('judged', true, { judge_score: 0.9 }),
    item('close', true, { judge_score: 0.9 }),
    item('only-large', true),
  ]);
  const mini = ofModel('mini', [
    item('both', true, { final_text: 'In other words' }),
    item('lost', false),
    item('won', true),
    item('judged', true, { judge_score: 0.6 }),
    item('close', true, { judge_score: 0.85 }),
    item('only-mini', true),
  ]);
  const results = resultsOf(mini, large);
  t.strictSame(
    Object.fromEntries(results.map(({ item: { fixture_id }, verdict }) => [fixture_id, verdict])),
    {
      lost: 'worse',
      judged: 'worse',
      'only-large': 'missing',
      'only-mini': 'new',
      won: 'better',
      both: 'same',
      close: 'same',
    },
  );
  t.equal(results.filter(blocks).length, 3, 'other texts and tokens of another model do not block');
  t.strictSame(
    results.slice(0, 2).map(({ verdict }) => verdict),
    ['worse', 'worse'],
  );
});

t.test('compares the columns of one run, or those that were chosen of two', async (t) => {
  const matrix = {
    label: 'run',
    items: [...ofModel('a', [item('f', true)]), ...ofModel('b', [item('f', false)])],
  };
  const labels = (sides: Sides) => [sides.before?.label, sides.after.label];
  t.strictSame(labels(sidesOf(matrix, undefined, {})), ['a', 'b']);
  t.strictSame(labels(sidesOf(matrix, undefined, { a: 'b' })), ['b', 'a']);
  t.match(sidesOf({ label: 'run', items: [item('f', true)] }, undefined, {}), { isComparable: false });
  const earlier = { ...matrix, label: 'earlier' };
  t.match(sidesOf(matrix, earlier, {}), {
    before: { label: 'earlier', items: { length: 2 } },
    choice: { a: '', b: '', hasWhole: true },
  });
  t.match(sidesOf(matrix, earlier, { a: 'b' }), {
    before: { label: 'earlier', items: { length: 1 } },
    after: { label: 'run', items: { length: 1 } },
  });
  const single = { label: 'single', items: ofModel('c', [item('f', true)]) };
  t.strictSame(labels(sidesOf(single, matrix, {})), ['a', 'c'], 'of the same cases, column by column');
  t.strictSame(labels(sidesOf(single, matrix, { a: 'b' })), ['b', 'c']);
});

t.test('counts test cases without a recording apart from failures', async (t) => {
  const runtime_failure = { kind: 'runtime_error', message: 'none', no_script: true };
  const totals = totalsOf([item('a', true), item('b', false), item('c', false, { runtime_failure })]);
  t.strictSame(totals.counts, { passed: 1, failed: 1, unplayable: 1 });
  t.equal(passRateOf(totals), 0.5);
  t.equal(passRateOf(totalsOf([item('c', false, { runtime_failure })])), undefined);
});

t.test('describes failures and shows unknown kinds as received', async (t) => {
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

t.test('parses report files line by line and reports invalid lines', async (t) => {
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

t.test('escapes formulas, quotes and separators in exports', async (t) => {
  const results = resultsOf([
    item('=cmd|"x"', false, { failures: [{ kind: 'forbidden_tool_used', tool: 'a,b' }] }),
  ]);
  const [head, first] = csvOf(results).split('\r\n');
  t.match(head, /,cost_usd,judge_cost_usd,judge_score$/);
  t.match(first, /^"'=cmd\|""x""",,false,,"[^"]*a,b[^"]*"/);
  t.match(markdownOf(results), /=cmd\\\|"x"/);
});

t.test('checks the fields of a test case, and merges concurrent changes of it', async (t) => {
  await loadExpressions();
  const wrong = {
    id: '-',
    user_input: '',
    expect: { max_tokens_total: -1, min_judge_score: 2, final_answer_contains: [5], unknown: 1 },
    source_run_id: 'r',
  };
  t.strictSame(
    problemsIn(FIXTURE, wrong)
      .map(({ path }) => path)
      .sort(),
    [
      'expect.final_answer_contains.0',
      'expect.max_tokens_total',
      'expect.min_judge_score',
      'id',
      'user_input',
    ],
  );
  t.strictSame(problemsIn(FIXTURE, { id: 'a', user_input: 'Hi', expect: {} }), []);
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
    'changes of two users are merged',
  );
  t.strictSame(
    withFixture([{ id: 'b' }], 'a', { id: 'a' }),
    [{ id: 'b' }, { id: 'a' }],
    'a fixture that was deleted elsewhere is restored',
  );
  t.strictSame(fixturesIn('{"id":"d","spec":{"fixtures":[{"id":"a"},5]}}'), [{ id: 'a' }]);
  t.strictSame(fixturesIn('[{"id":"a"}]'), [{ id: 'a' }]);
  t.throws(() => fixturesIn('{"spec":{}}'), /fixtures/);
});

t.test('states the expectations of a test case as sentences', async (t) => {
  const tell: Say<keyof typeof fixtureTexts> = (key, values) => say(fixtureTexts, key, values);
  t.strictSame(
    expectationsOf(
      {
        final_answer_contains: ['hello', 'bye'],
        tool_sequence: ['search', 'read'],
        tool_sequence_mode: 'ordered_subseq',
        required_tool_calls: [{ name: 'search', args_subset: { q: 'x' }, count: { op: 'at_most', n: 2 } }],
        scorers: [{ kind: 'similar', text: 'Hi', min_score: 0.8 }, { kind: 'own' }],
        max_tokens_total: 5,
        later: [1],
      },
      tell,
    ),
    [
      'The answer contains “hello”, “bye”',
      'The run calls search, read in this order; other calls may come between',
      'The run calls search {"q":"x"} at most 2 times',
      'The answer resembles “Hi” (similarity of 0.8 or more)',
      '{"kind":"own"}',
      'The run uses at most 5 tokens',
      'later: 1',
    ],
  );
});

t.test('leaves defaults out of eval run requests', async (t) => {
  const none = { provider_script: undefined, provider_script_error: undefined, mock_response: undefined };
  t.equal(isScriptable(none), false);
  t.equal(isScriptable({ ...none, mock_response: { kind: 'text', text: '' } }), false);
  t.equal(isScriptable({ ...none, mock_response: { kind: 'text', text: 'Hi' } }), true);
  t.equal(isScriptable({ ...none, provider_script: [{}] }), true);
  t.equal(isScriptable({ ...none, provider_script: [{}], provider_script_error: 'cut' }), false);
  t.strictSame(requestOf('d', { mode: 'scripted', models: ['m'], baseline_run_id: 'b', tools: undefined }), {
    dataset_id: 'd',
    mode: 'scripted',
    baseline_run_id: 'b',
    async: true,
  });
  const live = { mode: 'live', models: ['m'], samples: 3, judge: { model_id: 'j' }, max_walltime_secs: 9 };
  t.strictSame(requestOf('d', { ...live, agent_id: undefined }), { dataset_id: 'd', ...live, async: true });
  const { judge: _, ...unjudged } = live;
  t.strictSame(
    requestOf('d', { ...live, judge: { rubric: 'kind' } }),
    { dataset_id: 'd', ...unjudged, async: true },
    'a judge without a model is left out',
  );
  t.equal(cellsOf(live, 4), 12);
  t.equal(cellsOf({ mode: 'scripted' }, 4), 4);
  const run = { id: '1', dataset_id: 'd', dataset_revision: 1, execution_mode: 'live' };
  t.equal(obstacleOf(run, { ...run, dataset_revision: 2 }), 'revision');
  t.equal(obstacleOf(run, { ...run, execution_mode: 'scripted' }), 'mode');
  t.equal(obstacleOf(run, { ...run, dataset_id: 'e', dataset_revision: 2 }), 'dataset');
  t.equal(obstacleOf(run, run), undefined);
  const named = (models: string[]) =>
    nameOf(
      { models, started_at_secs: 60 },
      (key) => say(runTexts, key),
      (at) => `at ${at}`,
    );
  t.strictSame([named(['large', 'mini']), named([])], ['large, mini · at 60000', 'Recorded · at 60000']);
  const summary = {
    ...run,
    models: [],
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

t.test('groups diagnostics by severity and links to the screen with the fix', async (t) => {
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

t.test('makes free ids from the names of models', async (t) => {
  t.equal(idFrom('openai/GPT-4o'), 'gpt-4o');
  t.equal(idFrom('OpenAI-compatible server'), 'openai-compatible-server');
  t.equal(idFrom('llama3.2:1b'), 'llama3.2-1b');
  t.equal(idFrom('模型'), 'model');
  t.equal(freeId('gpt-4o', new Set(['gpt-4o', 'gpt-4o-2'])), 'gpt-4o-3');
  const entries = [
    { part: 'providers', name: 'One' },
    { part: 'models', name: 'a/small' },
    { part: 'models', name: 'b/small' },
    { part: 'agents', name: 'a/small' },
  ] as const;
  const taken = { providers: ['one'], models: ['small-2'], agents: [] };
  const idsOf = (idOf: Parameters<typeof withIds>[2]) => withIds(entries, taken, idOf).map(({ id }) => id);
  t.strictSame(
    idsOf(() => undefined),
    ['one-2', 'small', 'small-3', 'small'],
    'ids of one connection differ, too',
  );
  t.strictSame(
    idsOf(({ name, part }) => (part === 'models' && name === 'a/small' ? 'mine' : undefined)),
    ['one-2', 'mine', 'small', 'small'],
  );
});
