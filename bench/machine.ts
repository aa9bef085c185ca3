import { cpus, release, totalmem, type } from 'node:os';
import { z } from 'zod';
import { pinned } from './pin.ts';

export const Machine = z.object({
  cpu: z.string(),
  cores: z.int(),
  memory_gib: z.number(),
  node: z.string(),
  kernel: z.string(),
  /** Servers run on one core, the load generator on another. */
  pinned: z.boolean(),
});
export type Machine = z.output<typeof Machine>;

export const thisMachine = (): Machine => ({
  cpu: cpus()[0]?.model ?? 'unknown',
  cores: cpus().length,
  memory_gib: Math.round(totalmem() / 2 ** 30),
  node: process.version,
  kernel: `${type()} ${release()}`,
  pinned: pinned(),
});

export const machineLine = (machine: Machine): string =>
  `${machine.cpu}, ${machine.cores} cores, ${machine.memory_gib} GiB, node ${machine.node}, ${machine.kernel}; ` +
  (machine.pinned
    ? 'servers pinned to core 0, load on core 1'
    : 'not pinned: servers and load generators share the cores');
