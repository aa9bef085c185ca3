import { cpus, release, totalmem, type } from 'node:os';
import { pinned } from './pin.ts';

export type Machine = {
  cpu: string;
  cores: number;
  memory_gib: number;
  node: string;
  kernel: string;
  /** Servers on one core, the load on another. */
  pinned: boolean;
};

export const thisMachine = (): Machine => ({
  cpu: cpus()[0]?.model ?? 'unknown',
  cores: cpus().length,
  memory_gib: Math.round(totalmem() / 2 ** 30),
  node: process.version,
  kernel: `${type()} ${release()}`,
  pinned,
});

export const machineLine = (machine: Machine): string =>
  `${machine.cpu}, ${machine.cores} cores, ${machine.memory_gib} GiB, node ${machine.node}, ${machine.kernel}; ` +
  (machine.pinned
    ? 'servers pinned to core 0, load on core 1'
    : 'nothing pinned: servers and load share the cores');
