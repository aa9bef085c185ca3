import t from 'tap';
import { countedUsd } from '../../src/console/data/cost.ts';
import type { AgentStats } from '../../src/console/data/resources.ts';
import { changesOf, wordChanges } from '../../src/console/design/diff.ts';
import { filtered, rowOf } from '../../src/console/screens/agents/agent-row.ts';
import {
  type AuditEvent,
  csvOf,
  fromField,
  instantText,
  merged,
  queriesOf,
  restorable,
  summaryOf,
  withLabel,
} from '../../src/console/screens/audit-log/audit-event.ts';
import { activityOf } from '../../src/console/screens/dashboard/activity.ts';
import { addressOf, operationsIn } from '../../src/console/screens/system/operations.ts';
import { parseMetrics, rateOf, withSample } from '../../src/console/screens/system/prometheus.ts';
import { createToolFilter, globOf } from '../../src/console/screens/tools/allowed.ts';

/** What screens work out of answers. */

const NOW = Date.parse('2026-01-02T03:04:05Z');

const event = (more: Partial<AuditEvent>): AuditEvent => ({
  id: '1',
  ts: '2026-01-02T03:04:05Z',
  actor: '3fa9c1d27be0d4a1/alice',
  action: 'update',
  resource: 'agents/x',
  before: undefined,
  after: undefined,
  overrides: undefined,
  ip: undefined,
  request_id: undefined,
  restored_from: undefined,
  error: undefined,
  ...more,
});

t.test('a diff has the fields that differ, and of secrets only that they do', async (t) => {
  const before = { a: 1, list: ['x'], api_key: 'k-old', rules: [{ tool: 'a' }], gone: true };
  const after = { a: 2, list: ['x', 'y'], api_key: 'k-new', rules: [{ tool: 'b' }], new: null };
  t.match(changesOf(before, after), [
    { path: 'a', kind: 'changed', before: 1, after: 2, isSecret: false },
    { path: 'list', before: ['x'], after: ['x', 'y'] },
    { path: 'api_key', before: '***', after: '***', isSecret: true },
    { path: 'rules[0].tool', before: 'a', after: 'b' },
    { path: 'gone', kind: 'removed', after: undefined },
    { path: 'new', kind: 'added', before: undefined, after: null },
  ]);
  t.strictSame(changesOf(before, structuredClone(before)), []);
  t.notMatch(JSON.stringify(changesOf(before, after)), /k-old|k-new/);
});

t.test('texts are told apart by their words', async (t) => {
  t.strictSame(wordChanges('be brief', 'be very brief'), [
    { kind: 'same', text: 'be ' },
    { kind: 'added', text: 'very ' },
    { kind: 'same', text: 'brief' },
  ]);
  const long = 'a b '.repeat(2000);
  t.equal(wordChanges(long, `${long}c`).length, 2);
});

t.test('the log is asked in UTC, once for each action, and for actors that it can find', async (t) => {
  t.strictSame(queriesOf({ since: '1h', action: 'create,delete,nonsense', actor: '3fa9' }, NOW), [
    {
      since: '2026-01-02T02:04:05.000Z',
      until: undefined,
      resource: undefined,
      actor: '3fa9',
      limit: 100,
      action: 'create',
    },
    {
      since: '2026-01-02T02:04:05.000Z',
      until: undefined,
      resource: undefined,
      actor: '3fa9',
      limit: 100,
      action: 'delete',
    },
  ]);
  t.match(queriesOf({ actor: 'alice', since: 'nonsense' }, NOW), [{ actor: undefined, since: undefined }]);
  t.equal(instantText('2025-01-02T03:04:00+02:00', NOW), '2025-01-02T01:04:00.000Z');
  t.equal(fromField('2025-01-02T03:04', 'utc'), '2025-01-02T03:04:00.000Z');
  t.equal(fromField('2025-01-02T03:04', 'local'), new Date(2025, 0, 2, 3, 4).toISOString());
  t.equal(fromField('', 'utc'), undefined);
});

t.test('pages of the log are one list, without doubles, and names are found in it', async (t) => {
  const [a, b, c] = [event({ id: '1' }), event({ id: '2', actor: 'x/bob' }), event({ id: '3' })];
  t.strictSame(
    merged([
      [a, b],
      [c, b],
    ]).map(({ id }) => id),
    ['3', '2', '1'],
  );
  t.strictSame(withLabel([a, b, c], 'BOB'), [b]);
  t.strictSame(withLabel([a, b, c], '3fa9'), [a, b, c], 'the service has looked for it');
});

t.test('a summary says each changed field once', async (t) => {
  const mirrored = (rounds: number) => ({
    max_rounds: rounds,
    backend: { kind: 'local', config: { max_rounds: rounds } },
    updated_at: rounds,
  });
  t.equal(
    summaryOf(event({ before: mirrored(3), after: { ...mirrored(5), skills: [] } })),
    'max_rounds, +skills',
  );
  t.equal(summaryOf(event({ error: 'refused' })), 'refused');
  t.strictSame(restorable(event({ action: 'delete', before: { a: 1 } })), { a: 1 });
  t.equal(restorable(event({ action: 'restart', after: { a: 1 } })), undefined);
});

t.test('a CSV file holds whatever is in it', async (t) => {
  const csv = csvOf([event({ resource: 'agents/a,"b"\nc', error: '=1+1' })]);
  t.equal(
    csv,
    'time,actor,action,resource,summary\r\n' +
      '2026-01-02T03:04:05Z,3fa9c1d27be0d4a1/alice,update,"agents/a,""b""\nc",\'=1+1\r\n',
  );
});

const stats = (agent_id: string, more: Partial<AgentStats> = {}): AgentStats => ({
  agent_id,
  window_seconds: 60,
  cut_off: undefined,
  cost_usd: undefined,
  inference_count: 10,
  error_count: 1,
  input_tokens: 1_000_000,
  output_tokens: 500_000,
  p50_inference_duration_ms: 1,
  p95_inference_duration_ms: 1,
  inference_duration_histogram: [
    { upper_bound_ms: 10, count: 9 },
    { upper_bound_ms: null, count: 1 },
  ],
  suspensions: 0,
  handoffs: 0,
  delegations: 0,
  tool_calls_by_tool: [
    { tool: 'a', call_count: 2, failure_count: 1, p95_duration_ms: 1, total_duration_ms: 2 },
  ],
  ...more,
});

t.test('agents are added where that means something, with the costs that are known', async (t) => {
  const both = activityOf([stats('x', { cost_usd: 1.5 }), stats('x', { error_count: 3, cost_usd: 2.5 })]);
  t.match(both.totals, { inferences: 20, errorShare: 0.2, costUsd: 4, p50: 10, p95: undefined });
  t.strictSame(both.topTools, [{ tool: 'a', calls: 4, failures: 2 }]);
  t.equal(activityOf([stats('x', { cost_usd: 1.5 }), stats('free')]).totals?.costUsd, 1.5);
  t.equal(activityOf([stats('free')]).totals?.costUsd, undefined);
  t.equal(countedUsd(0, ''), undefined, 'statistics count 0 where no price is known');
  t.equal(countedUsd(0.5, ''), 0.5);
  const mixed = activityOf([stats('x'), stats('y', { window_seconds: 600 })]);
  t.equal(mixed.totals, undefined);
  t.strictSame(mixed.windows, [60, 600]);
});

t.test('an agent is shown with what is known of it', async (t) => {
  const known = {
    meta: new Map([
      ['a', { source: { kind: 'builtin' }, user_overrides: { max_rounds: 8 }, updated_at: NOW } as never],
    ]),
    stats: [stats('a')],
    models: new Set(['m']),
  };
  const agent = { id: 'a', description: undefined, model_id: 'gone', plugin_ids: ['p'], endpoint: null };
  const row = rowOf(agent, known);
  t.match(row, { source: 'customized', isDangling: true, isRemote: false, modified: NOW });
  t.notOk(rowOf(agent, { ...known, models: undefined }).isDangling, 'nobody knows yet');
  t.notOk(rowOf({ ...agent, endpoint: { backend: 'a2a' } }, known).isDangling);
  t.strictSame(filtered([row], { modified: '1h', plugin: 'p' }, NOW + 60_000), [row]);
  t.strictSame(filtered([row], { modified: '1h' }, NOW + 4_000_000), []);
  t.strictSame(filtered([row], { model: 'm' }, NOW), []);
});

t.test('patterns of tools are anchored globs', async (t) => {
  t.ok(globOf('mcp__*__read')('mcp__files__read'));
  t.notOk(globOf('read')('read_all'));
  t.ok(globOf('a\\*b')('a*b'));
  t.notOk(globOf('a\\*b')('axb'));
  t.ok(globOf('*')('http://x/y:z'));
  const allows = createToolFilter({ allowed_tool_patterns: ['*'], excluded_tools: ['shell'] });
  t.ok(allows('read'));
  t.notOk(allows('shell'));
  t.notOk(createToolFilter({})('read'), 'nothing is allowed that nobody allows');
});

t.test('metrics are read without their buckets, and rates are those of counters', async (t) => {
  const text = [
    '# TYPE runs_total counter',
    'runs_total{status="done"} 4',
    '# TYPE memory gauge',
    'memory 1.5e3',
    '# TYPE seconds histogram',
    'seconds_bucket{le="1"} 3',
    'seconds_sum 0.5',
  ].join('\n');
  const series = parseMetrics(text);
  t.strictSame(series, [
    { name: 'runs_total{status="done"}', kind: 'counter', value: 4 },
    { name: 'memory', kind: 'gauge', value: 1500 },
    { name: 'seconds_sum', kind: 'counter', value: 0.5 },
  ]);
  const seen = withSample(
    withSample(new Map(), [{ name: 'x', kind: 'counter', value: 1 }], 0),
    [{ name: 'x', kind: 'counter', value: 21 }],
    10_000,
  );
  t.equal(rateOf(seen.get('x') ?? []), 2);
  t.equal(
    rateOf([
      { at: 0, value: 5 },
      { at: 1000, value: 1 },
    ]),
    undefined,
    'it began anew',
  );
});

t.test('a call of the explorer goes where its route is', async (t) => {
  const [operation] = operationsIn({
    paths: {
      '/v1/runs/{id}': {
        get: {
          summary: 'One',
          parameters: [
            { name: 'id', in: 'path' },
            { name: 'q', in: 'query' },
          ],
        },
        parameters: [],
      },
    },
  });
  t.ok(operation);
  if (operation) t.equal(addressOf(operation, { id: 'a/b', q: 'x y' }), '/v1/runs/a%2Fb?q=x+y');
  t.strictSame(operationsIn('nonsense'), []);
});
