import { mkdirSync, writeFileSync } from 'node:fs';
import type { HeapProfiler, Profiler } from 'node:inspector';
import { join } from 'node:path';
import type { Context } from '../benchmark.ts';
import { type Played, playLoad } from '../load.ts';
import { groupOf, moduleAt } from '../modules.ts';
import type { Measured } from '../row.ts';
import type { Server } from '../servers.ts';
import { inspect, inspectedFlags } from './inspected.ts';
import { LOADS, startWithProvider, type UpstreamServer } from './peers.ts';
import { PACED_METRIC, pacedLoad, pacedModel } from './runs.ts';

/** CPU time and allocation of paced runs, by module and by function. */

const MODULES = 25;
const FUNCTIONS = 30;

/** The amount of one function, without its callees. */
type Part = { module: string; name: string; amount: number };

type Frame = { functionName: string; url: string; lineNumber: number };

/** Time in which the process waited. */
const IDLE = new Set(['(idle)', '(root)']);

const partOf = ({ functionName, url, lineNumber }: Frame, amount: number): Part => {
  if (url === '')
    return { module: functionName.startsWith('(') ? functionName : '(native)', name: functionName, amount };
  const module = moduleAt(url, lineNumber);
  return { module, name: functionName === '' ? '(anonymous)' : functionName, amount };
};

/** Amounts in milliseconds. */
function partsOfCpu({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): Part[] {
  const self = new Map<number, number>();
  for (const [index, id] of samples.entries()) {
    self.set(id, (self.get(id) ?? 0) + (timeDeltas[index] ?? 0) / 1000);
  }
  return nodes.map(({ id, callFrame }) => partOf(callFrame, self.get(id) ?? 0));
}

/** Amounts in kilobytes. */
function partsOfHeap({ head }: HeapProfiler.SamplingHeapProfile): Part[] {
  const parts: Part[] = [];
  const open = [head];
  for (let node = open.pop(); node; node = open.pop()) {
    parts.push(partOf(node.callFrame, node.selfSize / 1000));
    open.push(...node.children);
  }
  return parts;
}

type Sum = { name: string; amount: number };

function sumBy(parts: readonly Part[], nameOf: (part: Part) => string, most: number): Sum[] {
  const sums = new Map<string, number>();
  for (const part of parts) sums.set(nameOf(part), (sums.get(nameOf(part)) ?? 0) + part.amount);
  return Array.from(sums, ([name, amount]) => ({ name, amount }))
    .filter(({ amount }) => amount > 0)
    .sort((one, other) => other.amount - one.amount)
    .slice(0, most);
}

function tableOf(title: string, unit: string, runs: number, all: readonly Part[]): string {
  const parts = all.filter(({ name }) => !IDLE.has(name));
  const total = parts.reduce((sum, { amount }) => sum + amount, 0);
  const lines = (sums: readonly Sum[]): string[] =>
    sums.map(({ name, amount }) => {
      const share = `${((100 * amount) / total).toFixed(1)} %`;
      return `    ${share.padStart(7)}  ${(amount / runs).toFixed(3).padStart(9)}  ${name}`;
    });
  return [
    `${title}, ${unit} a run, ${(total / runs).toFixed(3)} in all; by module:`,
    ...lines(sumBy(parts, ({ module }) => groupOf(module), MODULES)),
    '    by function:',
    ...lines(sumBy(parts, ({ module, name }) => `${name} (${module})`, FUNCTIONS)),
  ].join('\n');
}

/** Measures only the paced runs. The row shows their cost while the CPU is profiled. */
export async function measureProfiled(
  context: Context,
  upstream: UpstreamServer,
  folder: string,
): Promise<Measured[]> {
  const server = await startWithProvider(context, upstream, inspectedFlags(context));
  mkdirSync(folder, { recursive: true });
  try {
    if (!context.short) await playPaced(context, server);
    const cpu = await profiled(context, server, 'cpu');
    // The program responds to these questions with the profiles of the inspector.
    const cpuProfile = cpu.profile as Profiler.Profile;
    save(context, folder, 'provider.cpuprofile', cpuProfile);
    context.note(tableOf('CPU time', 'ms', cpu.played.report.streams, partsOfCpu(cpuProfile)));
    const heap = await profiled(context, server, 'heap');
    const heapProfile = heap.profile as HeapProfiler.SamplingHeapProfile;
    save(context, folder, 'provider.heapprofile', heapProfile);
    context.note(tableOf('allocation', 'KB', heap.played.report.streams, partsOfHeap(heapProfile)));
    const { cost, granted, rate } = cpu.played;
    const round = { value: cost, rates: [rate] as const, shares: { Troupe: granted } };
    return [{ metric: `${PACED_METRIC}, profiled`, unit: 'ms of CPU', rounds: [round] }];
  } finally {
    await server.process.stop();
  }
}

const playPaced = (context: Context, server: Server): Promise<Played> =>
  playLoad(server, { ...pacedLoad(context), ...LOADS.troupe('openai-chat', pacedModel(context)) });

async function profiled(
  context: Context,
  server: Server,
  what: 'cpu' | 'heap',
): Promise<{ played: Played; profile: unknown }> {
  await inspect(server, `start ${what}`);
  const played = await playPaced(context, server);
  return { played, profile: await inspect(server, `stop ${what}`) };
}

function save(context: Context, folder: string, name: string, profile: object): void {
  const file = join(folder, name);
  writeFileSync(file, JSON.stringify(profile));
  context.note(`${file} can be opened in the developer tools of Chromium`);
}
