import t from 'tap';
import { createBrake } from '../../src/mcp/brake.ts';
import { installTime } from '../property/time.ts';

t.test('what comes faster than it may waits for the next second, and goes on then', async (t) => {
  const time = installTime();
  t.teardown(time.uninstall);
  const did: string[] = [];
  const stream = { pause: () => void did.push('pause'), resume: () => void did.push('resume') };
  // Only what it calls of a stream.
  const brake = createBrake(stream as never, 10);
  for (let i = 0; i < 10; i += 1) brake(1);
  t.strictSame(did, []);
  brake(1);
  brake(50);
  t.strictSame(did, ['pause'], 'once, whatever was on its way');
  await time.advance(1000, async () => {});
  t.strictSame(did, ['pause', 'resume']);
});
