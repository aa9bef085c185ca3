import t, { type Test } from 'tap';
import { createClient } from '../crash/client.ts';
import { MAIN } from './built.ts';
import { runNode } from './service.ts';

/**
 * Objects of a request are short-lived. Anything that keeps a finished thread or run reachable from the old generation
 * shows up here as bytes that a scavenge promotes; examples are an accessor of an object literal, or a map that drops
 * entries without clearing them. The figures do not depend on the speed of the host.
 */

const KIB = 1024;

const startTraced = async (t: Test) => {
  const flags = ['--trace-gc', '--trace-gc-nvp', '--max-semi-space-size=16'];
  const service = runNode(t, [
    ...flags,
    MAIN,
    'dev',
    '--http-addr',
    '127.0.0.1:0',
    '--storage-dir',
    t.testdir(),
  ]);
  const [url] = await service.says(/http:\/\/127\.0\.0\.1:\d+/);
  const promoted = (): number =>
    [...service.output().matchAll(/ gc=s .* promoted=(\d+)/g)].reduce(
      (sum, [, bytes]) => sum + Number(bytes),
      0,
    );
  return { url, promoted };
};

/** Sends this many requests from this many concurrent clients. @returns promoted bytes per request */
const growth = async (
  { url, promoted }: Awaited<ReturnType<typeof startTraced>>,
  { path, body, count, clients = 8 }: { path: string; body: object; count: number; clients?: number },
): Promise<number> => {
  let left = count;
  const before = promoted();
  const { ask } = createClient(url);
  const client = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await ask('POST', path, body);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return (promoted() - before) / count;
};

t.test('collects finished threads and runs from the young generation', async (t) => {
  const service = await startTraced(t);
  const run = { agentId: 'bench', messages: [{ role: 'user', content: 'go' }] };
  const warm = { path: '/v1/threads', body: {}, count: 400 };
  await growth(service, warm);
  const ofThread = await growth(service, { ...warm, count: 1000 });
  const ofRun = await growth(service, { path: '/v1/runs', body: run, count: 240, clients: 1 });
  t.comment(`${(ofThread / KIB).toFixed(1)} KiB a thread, ${(ofRun / KIB).toFixed(1)} KiB a run`);
  t.ok(ofThread < 11 * KIB, `${ofThread} bytes a thread`);
  t.ok(ofRun < 52 * KIB, `${ofRun} bytes a run`);
});
