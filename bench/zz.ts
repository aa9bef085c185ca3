import { spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { runLoad, runOf } from '../src/load/index.ts';
import './pin.ts';
import { percentile } from './rounds.ts';
import { startTroupe } from './servers.ts';
import { startStoreWorker } from './store-worker.ts';
const ctx = { short: false, server: '/work/main/dist/src/main.js', note() {}, folder: () => mkdtempSync('/tmp/p6x-') };
const [, , durability = 'process', prof = ''] = process.argv;
const dur = durability === 'power' ? 'power' : 'process';
const s = await startTroupe(ctx, dur, prof ? ['--cpu-prof', `--cpu-prof-dir=${prof}`, '--cpu-prof-interval', '100'] : []);
const w = startStoreWorker(ctx);
for (const cores of ['0', '0,1', '0', '0,1']) {
  const wp = Number(spawnSync('pgrep', ['-f', 'store-worker']).stdout.toString().split('\n')[0]);
  for (const pid of [s.process.pid, wp]) spawnSync('taskset', ['-a', '-p', '-c', cores, String(pid)]);
  const t: number[] = [];
  await runLoad({ url: s.url, connections: 1, duration_ms: 2000, pause_ms: 5, body: runOf('bench'), onSample: (x) => t.push(x.ttft_ms ?? 0) });
  const c = await w.measure({ of: 'store', durability: dur, concurrency: 1, duration_ms: 1500, pause_ms: 5 });
  const p = (a: number[], n: number) => percentile(a, n).toFixed(3);
  console.log(dur, cores, 'ttft', p(t, 50), p(t, 99), 'commit', p(c.milliseconds, 50), p(c.milliseconds, 99), 'ratio', (percentile(t, 50) / percentile(c.milliseconds, 50)).toFixed(2));
}
await w.stop(); await s.process.stop();
process.exit(0);
