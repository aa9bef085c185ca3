import t from 'tap';
import { APPEND_KINDS } from '../../src/postgres/migrations/functions-1.ts';
import { WORK_KINDS } from '../../src/postgres/migrations/tables-1.ts';
import { SHIPPED } from '../../src/store/kinds.ts';

/** Migrations name kinds by number, since they never change; the store may add kinds. */

const numbersOf = (property: 'isAppended' | 'isWork'): number[] =>
  SHIPPED.filter((kind) => kind[property]).map(({ number }) => number);

t.test('the newest migrations know every kind of rows that are put once, and of work', async (t) => {
  t.strictSame([...APPEND_KINDS], numbersOf('isAppended'));
  t.strictSame([...WORK_KINDS], numbersOf('isWork'));
});
