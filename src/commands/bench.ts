import { Command } from 'commander';
import { Invalid } from '../schema/outcome.ts';
import { bar, createProgress } from '../terminal/progress.ts';
import { counted } from '../terminal/text.ts';
import { SERVICE_URL } from './service-url.ts';

/** `troupe bench`: load on a running server, this one or any other. */
export const benchCommand = new Command('bench')
  .description('put load on a running server and report rates and latencies')
  .option('--url <url>', 'address of the server; without a path, POST /v1/runs', SERVICE_URL)
  .option('--connections <n>', 'connections, each with one stream after the other', '64')
  .option('--duration <time>', 'how long streams are started, such as 10s', '10s')
  .option('--streams <n>', 'no more streams than this')
  .option('--agent <id>', 'agent of the runs; `bench` is one of the demo agents', 'bench')
  .option('--header <name: value...>', 'headers of every request, such as authorization', [])
  .option('--json', 'the report as JSON')
  .action(async ({ url, connections, duration, streams, agent, header, json }) => {
    // The histograms are loaded by whoever needs them.
    const { formatReport, parseDuration, runLoad, runOf } = await import('../load/index.ts');
    const progress = followLoad(parseDuration(duration));
    const report = await runLoad({
      url,
      connections: count('--connections', connections),
      duration_ms: parseDuration(duration),
      ...(streams !== undefined && { streams: count('--streams', streams) }),
      headers: Object.fromEntries(header.map(pair)),
      body: runOf(agent),
      onSample: progress.ended,
    }).finally(progress.stop);
    process.stdout.write(json ? `${JSON.stringify(report, null, 2)}\n` : formatReport(report));
    if (report.streams > 0) return;
    process.exitCode = 1;
    if (Object.keys(report.errors).some((kind) => kind.includes('agent not found')))
      process.stderr.write(`troupe: ${noAgent(agent)}\n`);
  });

const LOOK_MS = 200;

/** On a terminal: the time that has passed, and the streams that have ended. */
const followLoad = (duration_ms: number): { ended(): void; stop(): void } => {
  const progress = createProgress();
  const began = performance.now();
  let ended = 0;
  const timer = setInterval(() => {
    const passed = performance.now() - began;
    progress.show(`${bar(passed, duration_ms)} ${counted(ended, 'stream')} ended`);
  }, LOOK_MS);
  return {
    ended() {
      ended += 1;
    },
    stop() {
      clearInterval(timer);
      progress.clear();
    },
  };
};

const noAgent = (id: string): string =>
  `the service has no agent '${id}': name another with --agent, or start it with --seed-profile demo`;

const count = (flag: string, text: string): number => {
  if (!/^\d+$/.test(text)) throw new Invalid(`${flag}: '${text}' is not a count`);
  return Number(text);
};

const pair = (header: string): [string, string] => {
  const [, name, value] = /^([^:]+):\s*(.*)$/.exec(header) ?? [];
  if (name === undefined || value === undefined) {
    throw new Invalid(`--header: '${header}' is not of the form 'name: value'`);
  }
  return [name, value];
};
