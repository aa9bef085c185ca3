import { pack, unpack } from 'msgpackr';
import t from 'tap';
import type { LoggedEvent } from '../../src/schema/canonical-event.ts';
import { unshare, withShared } from '../../src/store/engine/shared-strings.ts';
import { eventsIn, packEvents } from '../../src/store/tables/stored-events.ts';
import fc from '../random.ts';
import { event } from './records.ts';

/** Events are read as they were logged, whatever strings they contain, and ids of a commit are not stored twice. */

const IDS = [
  '01a203e3-3488-7eca-8298',
  'another-id-that-repeats',
  'short',
  '\u0001',
  '\u0001\u0001x',
  '\u0001 ',
  '',
];

const strings = fc.oneof(fc.constantFrom(...IDS), fc.string(), fc.string({ minLength: 12, maxLength: 90 }));
const values = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 7, depthSize: 'large' },
    strings,
    fc.integer(),
    fc.constantFrom(null, true),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(fc.oneof(fc.constantFrom('id', 'run_id', '__proto__', '7'), fc.string()), tie('value'), {
      maxKeys: 5,
    }),
  ),
})).value;

/** Returns a copy through the codec. */
const stored = <V>(value: V): V => unpack(pack(value)) as V;

t.test('restores repeated strings in any JSON', (t) => {
  fc.assert(
    fc.property(fc.array(values), (all) => {
      const before = JSON.stringify(all);
      const back = JSON.parse(JSON.stringify(withShared(all)));
      unshare(back);
      t.equal(JSON.stringify(all), before, 'the original is not changed');
      return JSON.stringify(back) === before;
    }),
    { numRuns: 400, seed: 4 },
  );
  t.end();
});

t.test('restores more strings than the table has entries', (t) => {
  const all = Array.from({ length: 300 }, (_, index) => `a string with the number ${index % 150}`);
  const back = [...withShared(all)];
  unshare(back);
  t.strictSame(back, all);
  t.end();
});

t.test('omits ids that follow from the previous one, and stores others', (t) => {
  const ids = [
    'evt_7a_0',
    'evt_7a_1',
    'evt_7a_2',
    'evt_9_0',
    'evt_9_02',
    'evt_9_03',
    'loose',
    'evt_7a_3',
    'evt_7a_4',
  ];
  const events: LoggedEvent[] = ids.map((id) => event(id, 'r1'));
  const packed = packEvents(events, []);
  t.ok('packed' in packed);
  t.strictSame('packed' in packed && packed.packed.map(({ event_id }) => event_id === ''), [
    false,
    true,
    true,
    false,
    false,
    false,
    false,
    false,
    true,
  ]);
  t.strictSame(eventsIn(stored(packed)), events);
  t.strictSame(eventsIn(stored(events)), events, 'events of older versions are read');
  t.end();
});

t.test('stores the events of a commit in a third of their size', (t) => {
  const [thread_id, run_id, dispatch_id] = ['thread', 'run', 'dispatch'].map(
    (name) => `01a203e3-3488-7eca-8298-${name.padEnd(12, '0')}`,
  ) as [string, string, string];
  const events = Array.from({ length: 6 }, (_, index) => ({
    ...event(`evt_${thread_id}_${index}`, run_id),
    thread_id,
    correlation_id: dispatch_id,
    payload: { thread_id, run_id, dispatch_id },
  }));
  const idsOf = (value: unknown): number => JSON.stringify(value).split('7eca').length - 1;
  t.equal(idsOf(events), 6 * 7);
  t.equal(idsOf(packEvents(events, [])), 4);
  t.end();
});
