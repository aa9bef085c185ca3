import { mkdtempSync, writeFileSync } from 'node:fs';
import { runLoad, runOf } from '../src/load/index.ts';
import './pin.ts';
import { createDelivery } from './delivery.ts';
import { startTroupe } from './servers.ts';
const [, , n = '250', prof = '', durability='process'] = process.argv;
writeFileSync('/tmp/p6-eld.mjs', `import { monitorEventLoopDelay } from 'node:perf_hooks'; const h = monitorEventLoopDelay({ resolution: 2 }); h.enable(); process.on('SIGUSR2', () => h.reset()); let last=performance.now(); const big=[]; const t=setInterval(()=>{const now=performance.now(); if(now-last>60) big.push(Math.round(now-last)); last=now;},5); t.unref(); process.on('exit', () => { process._rawDebug('ELD p50', h.percentile(50)/1e6, 'p99', h.percentile(99)/1e6, 'max', h.max/1e6, 'stalls', big.join(',')); });`);
const ctx = { short: false, server: '/work/main/dist/src/main.js', note() {}, folder: () => mkdtempSync('/tmp/p6x-') };
const s = await startTroupe(ctx, durability==='power'?'power':'process', ['--import=/tmp/p6-eld.mjs', ...(prof ? ['--cpu-prof', `--cpu-prof-dir=${prof}`] : [])]);
for (let r = 0; r < 2; r++) {
  s.process.signal('SIGUSR2');
  const began = performance.now();
  const d = createDelivery({ pace_ms: 20, tokens: 200, leading: 2, from: began + 4000, until: began + 8000 });
  const e = performance.eventLoopUtilization();
  const rep = await runLoad({ url: s.url, connections: Number(n), ramp_ms: 4000, duration_ms: 8000, body: runOf('bench-paced'), onEvents: d.onEvents, onSample: d.onSample });
  console.log(n, 'p50', d.lateness(50), 'p90', d.lateness(90), 'p99', d.lateness(99), 'max', d.lateness(100), 'lat', rep.latency_ms.p50, rep.latency_ms.p99, rep.ttft_ms.p99, 'elu', performance.eventLoopUtilization(e).utilization.toFixed(2), JSON.stringify(rep.errors));
}
const { pid } = s.process;
process.stdout.write(`${pid}\n`);
const line = s.process.line(/ELD.*/).catch((error: Error) => console.log(error.message.slice(0, 600)));
await s.process.stop(); await line;
process.exit(0);
