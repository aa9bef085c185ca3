import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Benchmark, Context } from './benchmark.ts';
import { startChild } from './child.ts';
import { BenchError } from './error.ts';
import { outputIn, pack } from './package.ts';
import type { Measured } from './row.ts';

/**
 * Time from the package to the first stream: the production install, the start of the service, and the first frame of
 * the first stream; and the sizes. npm caches downloads, so only rounds after the first one are comparable.
 */

const bytesIn = (folder: string): number =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);

const installFrom = async (project: string, file: string): Promise<number> => {
  writeFileSync(join(project, 'package.json'), '{"private":true}');
  const began = performance.now();
  await outputIn(project, 'npm', 'install', '--omit=dev', '--no-audit', '--no-fund', file).catch((error) => {
    throw new BenchError(`the package cannot be installed: ${error.message}`);
  });
  return performance.now() - began;
};

/** Milliseconds until the service sends the first frame of a stream. */
const firstFrame = async (context: Context, troupe: string): Promise<number> => {
  const began = performance.now();
  const options = ['--http-addr', '127.0.0.1:0', '--storage-dir', context.folder()];
  const child = startChild([troupe, 'dev', ...options]);
  const [, url = ''] = await child.line(/API\s+(\S+)/);
  const response = await fetch(`${url}/v1/runs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ agentId: 'default', messages: [{ role: 'user', content: 'Hello' }] }),
  });
  const reader = response.body?.getReader();
  const first = await reader?.read();
  const took = performance.now() - began;
  await reader?.cancel();
  await child.stop();
  if (!response.ok || first?.done !== false) throw new BenchError(`a run was answered ${response.status}`);
  return took;
};

const row = (metric: string, unit: string, value: number, most?: number): Measured => ({
  metric,
  unit,
  rounds: [{ value }],
  ...(most !== undefined && { aim: { of: 'value', most } }),
});

const MB = 1e6;

export const install: Benchmark = {
  name: 'install',
  title: 'install: from the package to the first frame of a stream, and sizes',
  async run(context) {
    const folder = context.folder();
    const { filename, size } = await pack(context.build.root, folder);
    const project = context.folder();
    const installed = await installFrom(project, join(folder, filename));
    const modules = join(project, 'node_modules');
    const troupe = join(modules, '.bin/troupe');
    const whole = bytesIn(modules);
    await outputIn(project, process.execPath, troupe, 'prune');
    return [
      row('npm install of the package', 'ms', installed),
      row('from the first start to the first frame of a stream', 'ms', await firstFrame(context, troupe)),
      row('the package', 'MB', size / MB),
      row('a production install', 'MB', whole / MB),
      row('a production install, pruned', 'MB', bytesIn(modules) / MB, 100),
    ];
  },
};
