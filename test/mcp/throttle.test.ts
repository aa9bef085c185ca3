import t from 'tap';
import { createThrottle } from '../../src/mcp/throttle.ts';
import { installTime } from '../property/time.ts';

t.test('throttles to the per-second limit and resumes in the next second', async (t) => {
  const time = installTime();
  t.teardown(time.uninstall);
  const did: string[] = [];
  const stream = { pause: () => void did.push('pause'), resume: () => void did.push('resume') };
  // The brake uses only these methods of a stream.
  const brake = createThrottle(stream as never, 10);
  for (let i = 0; i < 10; i += 1) brake(1);
  t.strictSame(did, []);
  brake(1);
  brake(50);
  t.strictSame(did, ['pause'], 'the stream is paused once');
  await time.advance(1000, async () => {});
  t.strictSame(did, ['pause', 'resume']);
});
