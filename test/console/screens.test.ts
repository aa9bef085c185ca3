import t from 'tap';
import { AgentStats } from '../../src/console/data/resources.ts';
import { changesOf, wordChanges } from '../../src/console/design/diff.ts';
import { fromField, toField } from '../../src/console/list/time-field.ts';
import { filtered, rowOf } from '../../src/console/screens/agents/agent-row.ts';
import {
  type AuditEvent,
  instantText,
  merged,
  queriesOf,
  restorable,
  summaryOf,
  withLabel,
} from '../../src/console/screens/audit-log/audit-event.ts';
import { csvOf } from '../../src/console/screens/audit-log/export.ts';
import { addressOf, operationsIn } from '../../src/console/screens/system/operations.ts';
import { createToolFilter, globOf } from '../../src/console/screens/tools/allowed.ts';
import { runtimeStatsOf } from './runtime-stats.ts';

/** Logic of individual screens. */

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

t.test('diffs values by field and reports changed secrets without their values', async (t) => {
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

t.test('diffs texts by word', async (t) => {
  t.strictSame(wordChanges('be brief', 'be very brief'), [
    { kind: 'same', text: 'be ' },
    { kind: 'added', text: 'very ' },
    { kind: 'same', text: 'brief' },
  ]);
  const long = 'a b '.repeat(2000);
  t.equal(wordChanges(long, `${long}c`).length, 2);
});

t.test('queries the audit log in UTC, once per action, and by hash prefixes of actors', async (t) => {
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
  t.equal(toField('2025-01-02T03:04:00.000Z', 'utc'), '2025-01-02T03:04');
  t.equal(toField(new Date(2025, 0, 2, 3, 4).toISOString(), 'local'), '2025-01-02T03:04');
  t.equal(toField('1h', 'utc'), '');
});

t.test('merges pages of the audit log and filters them by actor label', async (t) => {
  const [a, b, c] = [event({ id: '1' }), event({ id: '2', actor: 'x/bob' }), event({ id: '3' })];
  t.strictSame(
    merged([
      [a, b],
      [c, b],
    ]).map(({ id }) => id),
    ['3', '2', '1'],
  );
  t.strictSame(withLabel([a, b, c], 'BOB'), [b]);
  t.strictSame(withLabel([a, b, c], '3fa9'), [a, b, c], 'a search in the service returns all matching rows');
});

t.test('summarizes each changed field once', async (t) => {
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

t.test('escapes separators and formulas in the CSV export', async (t) => {
  const csv = csvOf([event({ resource: 'agents/a,"b"\nc', error: '=1+1' })]);
  t.equal(
    csv,
    'time,actor,action,resource,summary\r\n' +
      '2026-01-02T03:04:05Z,3fa9c1d27be0d4a1/alice,update,"agents/a,""b""\nc",\'=1+1\r\n',
  );
});

t.test('joins an agent with its metadata and statistics', async (t) => {
  const known = {
    meta: new Map([
      ['a', { source: { kind: 'builtin' }, user_overrides: { max_rounds: 8 }, updated_at: NOW } as never],
    ]),
    stats: [AgentStats(runtimeStatsOf('a'), '')],
    models: new Set(['m']),
  };
  const agent = { id: 'a', description: undefined, model_id: 'gone', plugin_ids: ['p'], endpoint: null };
  const row = rowOf(agent, known);
  t.match(row, { source: 'customized', isDangling: true, isRemote: false, modified: NOW });
  t.notOk(
    rowOf(agent, { ...known, models: undefined }).isDangling,
    'the state is unknown until the models are loaded',
  );
  t.notOk(rowOf({ ...agent, endpoint: { backend: 'a2a' } }, known).isDangling);
  t.strictSame(filtered([row], { modified: '1h', plugin: 'p' }, NOW + 60_000), [row]);
  t.strictSame(filtered([row], { modified: '1h' }, NOW + 4_000_000), []);
  t.strictSame(filtered([row], { model: 'm' }, NOW), []);
});

t.test('matches tool patterns as anchored globs', async (t) => {
  t.ok(globOf('mcp__*__read')('mcp__files__read'));
  t.notOk(globOf('read')('read_all'));
  t.ok(globOf('a\\*b')('a*b'));
  t.notOk(globOf('a\\*b')('axb'));
  t.ok(globOf('*')('http://x/y:z'));
  const allows = createToolFilter({ allowed_tool_patterns: ['*'], excluded_tools: ['shell'] });
  t.ok(allows('read'));
  t.notOk(allows('shell'));
  t.notOk(createToolFilter({})('read'), 'an agent without allowed tools has no tools');
});

t.test('builds the address of an API call', async (t) => {
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
