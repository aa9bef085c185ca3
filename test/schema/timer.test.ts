import t from 'tap';
import { timerMs } from '../../src/schema/timer.ts';

t.test('limits a delay to the maximum of a timer', async (t) => {
  t.equal(timerMs(5), 5);
  t.equal(timerMs(2 ** 31), 2 ** 31 - 1);
  t.equal(timerMs(Number.POSITIVE_INFINITY), 2 ** 31 - 1);
});
