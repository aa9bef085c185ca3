import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from '../../src/load-generator/random.ts';
import { cancelRun, cancelThread, createAndDelete, decide, interrupt, list, page } from './act.ts';
import { evaluate } from './evaluate.ts';
import { patch, putConfig, restoreConfig } from './keep.ts';
import type { Durability, Service, Started } from './process.ts';
import { below, pick, pickByWeight } from './random.ts';
import { a2a, agUi, chat, foreground, held, inputToRun, mailbox, mailboxOn, mcp, message } from './say.ts';
import type { Operation, World } from './world.ts';

/** Operations of clients and ends of processes, with their weights. */

const OPERATIONS: readonly (readonly [number, Operation])[] = [
  [20, foreground],
  [12, mailbox],
  [14, message],
  [4, inputToRun],
  [6, chat],
  [6, agUi],
  [6, a2a],
  [3, mcp],
  [0.5, evaluate],
  [4, held],
  [8, decide],
  [4, cancelThread],
  [3, cancelRun],
  [2, interrupt],
  [6, patch],
  [2, putConfig],
  [1, restoreConfig],
  [3, createAndDelete],
  [2, list],
  [2, page],
];

/** Executes the operations of one client until it is stopped. */
export const playClient = async (world: World, me: number, stopped: () => boolean): Promise<void> => {
  const own = world.threads[me];
  if (own !== undefined) await mailboxOn(world, own);
  while (!stopped()) {
    await world.service.up();
    if (!world.isPaused) await pickByWeight(world.random, OPERATIONS)(world, me);
    // Prevents a busy loop of a client whose process is down.
    await pause(below(world.random, 20));
  }
};

type End = (service: Service, random: Random) => Promise<void>;

const kill: End = (service) => service.kill();

const killTwice: End = async (service, random) => {
  await service.kill();
  await service.killStart(below(random, 1500));
};

const stopGracefully: End = (service) => service.stop();

const failStart: End = async (service, random) => {
  await (random() < 0.5 ? service.kill() : service.stop());
  await service.failStart();
};

const ENDS: readonly (readonly [number, string, End])[] = [
  [2, 'kill, and again during the start', killTwice],
  [1.5, 'SIGTERM', stopGracefully],
  [1.5, 'an end, then a start on a taken port', failStart],
  [6, 'kill', kill],
];

const DURABILITIES: readonly Durability[] = ['process', 'power'];

export type Ended = { name: string; durability: Durability; started: Started };

/** The first ends are one of each kind, so that a short attack covers all of them. */
export const endAndStart = async (service: Service, random: Random, index: number): Promise<Ended> => {
  const drawn = pickByWeight(
    random,
    ENDS.map((end) => [end[0], end] as const),
  );
  const [, name, end] = ENDS[index] ?? drawn;
  await end(service, random);
  const durability = pick(random, DURABILITIES);
  return { name, durability, started: await service.start(durability) };
};
