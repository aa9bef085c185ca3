import { unknownEffect } from '../../src/cluster/refusals.ts';
import type { Random } from '../../src/load-generator/random.ts';
import type { Answer, Client } from './client.ts';
import type { Ledger, Outcome } from './ledger.ts';
import type { Service } from './process.ts';

/** Shared state of the clients of an attack. */
export type World = {
  service: Service;
  client: Client;
  ledger: Ledger;
  random: Random;
  /** Threads of this epoch that all clients use. */
  threads: readonly string[];
  /** Threads with suspended approvals, across kills and epochs. */
  heldThreads: readonly string[];
  hookUrl: string;
  /** Fires when streams have been open for too long. */
  patience: AbortSignal;
  /** Set while backups are made and checked: clients start no operation, so that the store stays small. */
  isPaused: boolean;
};

/** A single operation of a client. */
export type Operation = (world: World, me: number) => Promise<void>;

/** Statuses of expected rejections. Any other status outside 2xx is recorded as odd. */
const REFUSALS = [400, 404, 409, 503];

/** A standby forwarded the request, and the active member ended before its response. */
const EFFECT_UNKNOWN = unknownEffect(0).error;

export const judge = (world: World, what: string, status: number | undefined, text = ''): Outcome => {
  const key = `${what} ${status ?? 'cut'}`;
  world.ledger.answers.set(key, (world.ledger.answers.get(key) ?? 0) + 1);
  if (status === undefined || text.includes(EFFECT_UNKNOWN)) return 'unanswered';
  if (status >= 200 && status < 300) return 'acknowledged';
  if (!REFUSALS.includes(status)) world.ledger.oddities.push(`${what}: ${status} ${text.slice(0, 300)}`);
  return 'refused';
};

export const judged = (world: World, what: string, answer: Answer | undefined): Outcome =>
  judge(world, what, answer?.status, answer?.text);
