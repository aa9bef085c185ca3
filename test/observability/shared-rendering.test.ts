import t from 'tap';
import { createSharedRendering } from '../../src/observability/metrics/shared-rendering.ts';

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

t.test('concurrent readers share one rendering, which starts after their requests', async (t) => {
  let renderings = 0;
  let happened = 0;
  const read = createSharedRendering(async () => {
    renderings += 1;
    return String(happened);
  }, 50);
  t.equal(textOf(await read()), '0');
  happened = 1;
  const shared = await Promise.all(Array.from({ length: 100 }, read));
  t.strictSame(new Set(shared.map(textOf)), new Set(['1']));
  t.equal(renderings, 2);
});

t.test('readers that arrive during a rendering receive the next one', async (t) => {
  const waiting: (() => void)[] = [];
  let happened = 0;
  const read = createSharedRendering(async () => {
    const text = String(happened);
    await new Promise<void>((resolve) => waiting.push(resolve));
    return text;
  }, 1);
  const first = read();
  happened = 1;
  const second = read();
  waiting[0]?.();
  t.equal(textOf(await first), '0');
  while (waiting.length < 2) await new Promise((resolve) => setTimeout(resolve, 1));
  waiting[1]?.();
  t.equal(textOf(await second), '1');
});

t.test('a failed rendering fails only for its own readers', async (t) => {
  let fails = true;
  const read = createSharedRendering(async () => {
    if (fails) throw new Error('no');
    return 'yes';
  }, 1);
  await t.rejects(read());
  fails = false;
  t.equal(textOf(await read()), 'yes');
});
