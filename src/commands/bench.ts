import { Command } from 'commander';
import { Invalid } from '../schema/outcome.ts';
import { bar, createProgress } from '../terminal/progress.ts';
import { counted } from '../terminal/text.ts';
import { SERVICE_URL } from './service-url.ts';

/** `troupe bench`: puts load on a running server, Troupe or any other. */
export const benchCommand = new Command('bench')
  .description('generate load on a running server and report rates and latencies')
  .option('--url <url>', 'URL of the server; without a path, POST /v1/runs', SERVICE_URL)
  .option('--connections <n>', 'concurrent connections, each with one stream at a time', '64')
  .option('--duration <time>', 'how long to keep starting streams, such as 10s', '10s')
  .option('--streams <n>', 'maximum number of streams')
  .option('--agent <id>', 'agent of the runs; `bench` is one of the demo agents', 'bench')
  .option('--header <name: value...>', 'headers of every request, such as authorization', [])
  .option('--json', 'print the report as JSON')
  .action(async ({ url, connections, duration, streams, agent, header, json }) => {
    // Imported lazily, because other commands do not need the histograms.
    const {
      formatReport,
      parseDuration,
      runLoad,
      createRunBody: runOf,
    } = await import('../load-generator/index.ts');
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

/** On a terminal: shows the elapsed time and the number of ended streams. */
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
