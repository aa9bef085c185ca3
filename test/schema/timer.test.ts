import t from 'tap';
import { timerMs } from '../../src/schema/timer.ts';

t.test('a delay beyond what a timer can wait is the longest one', async (t) => {
  t.equal(timerMs(5), 5);
  t.equal(timerMs(2 ** 31), 2 ** 31 - 1);
  t.equal(timerMs(Number.POSITIVE_INFINITY), 2 ** 31 - 1);
});
