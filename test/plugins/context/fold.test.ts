import t from 'tap';
import { findSummaries, foldHistory } from '../../../src/plugins/context/fold.ts';
import type { Message } from '../../../src/schema/message.ts';
import fc from '../../random.ts';
import { assistant, summary, user } from './history.ts';

const ids = (messages: readonly Message[]): string[] => messages.map(({ id }) => id);

const raw = (count: number): Message[] =>
  Array.from({ length: count }, (_, index) => (index % 2 === 0 ? user() : assistant()));

t.test('returns a history without a summary unchanged', async (t) => {
  const history = raw(3);
  t.equal(foldHistory(history), history);
});

t.test('places a summary at the start of its range', async (t) => {
  const history = raw(5);
  const folded = summary(2, 3);
  t.same(
    ids(foldHistory([...history.slice(0, 4), folded, ...history.slice(4)])),
    ids([...history.slice(0, 1), folded, ...history.slice(3)]),
  );
});

t.test('prefers the widest range and hides the others', async (t) => {
  const history = raw(6);
  const [narrow, wide] = [summary(1, 2), summary(1, 5)];
  const all = [...history.slice(0, 3), narrow, ...history.slice(3), wide, user()];
  t.same(ids(foldHistory(all)), ids([wide, ...all.slice(5, 7), ...all.slice(8)]));
});

t.test('prefers the latest of two equal ranges', async (t) => {
  const latest = summary(1, 2);
  t.same(ids(foldHistory([...raw(2), summary(1, 2), latest])), [latest.id]);
});

t.test('keeps separate ranges, and shows messages that only an ignored range covers', async (t) => {
  const history = raw(6);
  const [first, second, overlapping] = [summary(1, 2), summary(4, 6), summary(3, 4)];
  t.same(
    ids(foldHistory([...history, first, second, overlapping])),
    ids([first, ...history.slice(2, 3), second]),
  );
});

t.test('accepts only an internal system message after its range as a summary', async (t) => {
  const history = raw(2);
  const { visibility: _, ...visible } = summary(1, 2);
  const posing: Message = { ...summary(1, 2), role: 'user' };
  t.same(ids(foldHistory([...history, visible, posing])), ids([...history, visible, posing]));
  t.same(ids(foldHistory([...history, summary(1, 3), summary(2, 1), summary(0, 1)])), ids(history));
});

t.test('shows exactly the messages that no applied summary covers, without overlaps', async () => {
  const entry = fc.oneof(
    { weight: 3, arbitrary: fc.constant('raw' as const) },
    { weight: 1, arbitrary: fc.tuple(fc.nat(12), fc.nat(12)) },
  );
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 16 }), (entries) => {
      const history = entries.map((one) => (one === 'raw' ? user() : summary(...one)));
      const winners = findSummaries(history);
      const covered = (seq: number) =>
        winners.some(({ from_seq, to_seq }) => seq >= from_seq && seq <= to_seq);
      const seen = new Set(ids(foldHistory(history)));
      const rawRight = history.every(
        ({ id }, index) => entries[index] !== 'raw' || seen.has(id) !== covered(index + 1),
      );
      const apart = winners.every((one, index) => (winners[index - 1]?.to_seq ?? 0) < one.from_seq);
      const won = new Set(winners.map(({ message }) => message.id));
      const summariesRight = history.every(
        ({ id }, index) => entries[index] === 'raw' || seen.has(id) === won.has(id),
      );
      return rawRight && apart && summariesRight && seen.size === foldHistory(history).length;
    }),
    { numRuns: 1000 },
  );
});
