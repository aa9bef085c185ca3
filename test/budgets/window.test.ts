import t from 'tap';
import { periodAt } from '../../src/budgets/window.ts';
import type { BudgetWindow } from '../../src/schema/budget.ts';
import fc from '../random.ts';

const at = (time: string): number => Date.parse(time);

const shown = (window: BudgetWindow, time: string) => {
  const { from, to = 0 } = periodAt(window, at(time));
  return [new Date(from).toISOString(), new Date(to).toISOString()];
};

const cases: [name: string, window: BudgetWindow, time: string, from: string, to: string][] = [
  [
    'a minute',
    { every: 'minute' },
    '2026-11-28T08:00:59.999Z',
    '2026-11-28T08:00:00Z',
    '2026-11-28T08:01:00Z',
  ],
  [
    'an hour of a zone with half an hour',
    { every: 'hour', zone: 'Asia/Kolkata' },
    '2026-11-28T08:00:00Z',
    '2026-11-28T07:30:00Z',
    '2026-11-28T08:30:00Z',
  ],
  ['a day', { every: 'day' }, '2026-11-28T23:59:59Z', '2026-11-28T00:00:00Z', '2026-11-29T00:00:00Z'],
  [
    'a day in Berlin',
    { every: 'day', zone: 'Europe/Berlin' },
    '2026-11-28T23:30:00Z',
    '2026-11-28T23:00:00Z',
    '2026-11-29T23:00:00Z',
  ],
  [
    'the day of 25 hours in Berlin',
    { every: 'day', zone: 'Europe/Berlin' },
    '2026-10-25T12:00:00Z',
    '2026-10-24T22:00:00Z',
    '2026-10-25T23:00:00Z',
  ],
  [
    'a day that starts in a skipped hour',
    { every: 'day', zone: 'America/Santiago' },
    '2026-09-06T12:00:00Z',
    '2026-09-06T04:00:00Z',
    '2026-09-07T03:00:00Z',
  ],
  [
    'a week from Monday',
    { every: 'week' },
    '2026-11-29T12:00:00Z',
    '2026-11-23T00:00:00Z',
    '2026-11-30T00:00:00Z',
  ],
  ['a month', { every: 'month' }, '2026-02-10T12:00:00Z', '2026-02-01T00:00:00Z', '2026-03-01T00:00:00Z'],
  [
    'a month in New York',
    { every: 'month', zone: 'America/New_York' },
    '2026-12-01T02:00:00Z',
    '2026-11-01T04:00:00Z',
    '2026-12-01T05:00:00Z',
  ],
];
for (const [name, window, time, from, to] of cases) {
  t.test(`finds ${name}`, async (t) => {
    t.same(shown(window, time), [new Date(at(from)).toISOString(), new Date(at(to)).toISOString()]);
  });
}

t.test('a total and a run have one window without end', async (t) => {
  t.same(periodAt({ every: 'total' }, at('2026-11-28T00:00:00Z')), { from: 0, to: undefined });
  t.same(periodAt(undefined, at('2026-11-28T00:00:00Z')), { from: 0, to: undefined });
});

t.test('windows contain their time, and follow each other without gaps', async () => {
  fc.assert(
    fc.property(
      fc.constantFrom('minute', 'hour', 'day', 'week', 'month'),
      fc.constantFrom(
        'UTC',
        'Europe/Berlin',
        'America/Santiago',
        'Asia/Kathmandu',
        'Pacific/Apia',
        'Australia/Lord_Howe',
      ),
      fc.integer({ min: at('2020-01-01T00:00:00Z'), max: at('2035-01-01T00:00:00Z') }),
      (every, zone, time) => {
        const window: BudgetWindow = { every, zone };
        const { from, to = 0 } = periodAt(window, time);
        const next = periodAt(window, to);
        const before = periodAt(window, to - 1);
        return from <= time && time < to && next.from === to && before.from === from && before.to === to;
      },
    ),
  );
});
