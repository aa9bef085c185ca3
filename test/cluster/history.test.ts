import t from 'tap';
import { createHistory, type Line, type Stored, type StoredRow } from './history.ts';

/** The checker of histories (cluster.md 19.1) finds each violation that a test plants. */

const write = (token: string, n: number | undefined, seals?: string) => ({ token, lineage: '1', n, seals });

const sent = (member: string, at: number, ...writes: ReturnType<typeof write>[]): Line => ({
  type: 'sent',
  member,
  at,
  writes,
});

const done = (
  member: string,
  committed: number,
  ...outcomes: [token: string, result: string, why?: string][]
) =>
  ({
    type: 'done',
    member,
    at: 0,
    committed,
    outcomes: outcomes.map(([token, result, why]) => (why ? { token, result, why } : { token, result })),
  }) satisfies Line;

const loaded = (member: string, last: number): Line => ({
  type: 'loaded',
  member,
  lineage: '1',
  last,
  at: 0,
});

const number = (n: number, token: string, isSealed = false): StoredRow => ({
  lineage: '1',
  what: 'number',
  n,
  token,
  isSealed,
});

const slot = (n: number, token: string): StoredRow => ({ ...number(n, token), what: 'slot' });

/** Member a writes 1 and 2; b takes over and writes 3, which seals 2; a write of each is refused or open. */
const LINES: Line[] = [
  { type: 'joined', member: 'a' },
  loaded('a', 0),
  sent('a', 1, write('a1', 1), write('a2', 2)),
  done('a', 1, ['a1', 'applied'], ['a2', 'applied']),
  { type: 'fenced', member: 'a', by: 'b', at: 5 },
  sent('a', 6, write('a3', 3)),
  done('a', 1, ['a3', 'refused', 'fenced']),
  { type: 'joined', member: 'b' },
  loaded('b', 2),
  sent('b', 7, write('b3', 3, 'a2'), write('b0', undefined)),
  done('b', 1, ['b3', 'applied'], ['b0', 'refused', 'not-owner']),
  sent('b', 8, write('b4', 4)),
];

const ROWS = [
  number(1, 'a1'),
  number(2, 'a2', true),
  number(3, 'b3'),
  slot(1, 'a1'),
  slot(2, 'a2'),
  slot(3, 'b3'),
];

const CHAINS = new Map([
  ['a', [0, 1]],
  ['b', [0, 1]],
]);

const found = (lines: Line[], stored: Partial<Stored>, killed = ['b']): string[] => {
  const history = createHistory();
  for (const line of lines) history.add(line);
  return history
    .check({ rows: ROWS, chains: CHAINS, ...stored }, new Set(killed))
    .map((violation) => violation.split(':')[0] ?? '');
};

const without = (...tokens: string[]): StoredRow[] => ROWS.filter(({ token }) => !tokens.includes(token));

t.test('accepts a history with a takeover, refused writes and an open one of a killed member', async (t) => {
  t.strictSame(found(LINES, {}), []);
  t.strictSame(
    found(LINES, { rows: [...ROWS, number(4, 'b4'), slot(4, 'b4')] }),
    [],
    'the open write was applied',
  );
});

const CASES: [violation: string, lines: Line[], stored: Partial<Stored>, killed?: string[]][] = [
  ['lost', LINES, { rows: without('b3') }],
  ['overwritten', LINES, { rows: [...without('b3'), number(3, 'b4'), slot(3, 'b4')] }],
  ['refused and stored', LINES, { rows: [...ROWS, number(4, 'a3'), slot(4, 'a3')] }],
  ['applied to a lineage of another member', [...LINES, done('b', 2, ['b0', 'applied'])], {}],
  ['unsettled', [...LINES, done('b', 1, ['b4', 'refused', 'abandoned'])], {}, []],
  ['unsettled', LINES, {}, []],
  ['two authors of 1', [...LINES, sent('a', 4, write('a4', 3)), done('a', 2, ['a4', 'applied'])], {}],
  ['of no attempt', LINES, { rows: [...ROWS, number(4, 'x'), slot(4, 'x')] }],
  ['doubled', LINES, { rows: [...ROWS, number(4, 'b3')] }],
  ['not dense', LINES, { rows: [...ROWS, number(5, 'b4'), slot(5, 'b4')] }],
  [
    'late',
    LINES,
    { rows: [...ROWS.filter(({ what }) => what === 'number'), slot(1, 'a1'), slot(2, 'a2'), slot(3, 'a1')] },
  ],
  ['late', LINES, { rows: [...without('a2'), number(2, 'a2'), slot(2, 'a2')] }],
  ['torn', LINES, { rows: [...ROWS, slot(4, 'b4')] }],
  ['zombie', LINES, { rows: [...without('b3'), number(3, 'a3'), slot(3, 'a3')] }],
  ['reordered', LINES.filter(({ type, member }) => type !== 'loaded' || member !== 'b'), {}],
  ['chain', LINES, { chains: new Map([['a', [0, 1, 3]]]) }],
  ['chain', LINES, { chains: new Map([['b', [0]]]) }],
  [
    'b3 of b',
    LINES.map((line) =>
      line.type === 'done' && line.member === 'b' ? done('b', 1, ['b3', 'refused', 'clash']) : line,
    ),
    {},
  ],
  ['z was not sent and has an outcome', [...LINES, done('b', 2, ['z', 'applied'])], {}],
];

for (const [violation, lines, stored, killed] of CASES)
  t.test(`finds: ${violation}`, async (t) => {
    t.ok(found(lines, stored, killed).includes(violation), `${found(lines, stored, killed)}`);
  });
