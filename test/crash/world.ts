import type { Random } from '../../src/load/random.ts';
import type { Answer, Client } from './client.ts';
import type { Ledger, Outcome } from './ledger.ts';
import type { Service } from './service.ts';

/** What the clients of an attack share. */
export type World = {
  service: Service;
  client: Client;
  ledger: Ledger;
  random: Random;
  /** Threads of this epoch that everybody uses. */
  threads: readonly string[];
  /** Threads on which approvals are held, over kills and epochs. */
  heldThreads: readonly string[];
  hookUrl: string;
  /** Fires when streams that are still open have been open for too long. */
  patience: AbortSignal;
};

/** What one client does, once. */
export type Operation = (world: World, me: number) => Promise<void>;

/** Statuses that say: not now, or not so. Everything else that is not 2xx is noted as odd. */
const REFUSALS = [400, 404, 409, 503];

export const judge = (world: World, what: string, status: number | undefined, text = ''): Outcome => {
  const key = `${what} ${status ?? 'cut'}`;
  world.ledger.answers.set(key, (world.ledger.answers.get(key) ?? 0) + 1);
  if (status === undefined) return 'unanswered';
  if (status >= 200 && status < 300) return 'acknowledged';
  if (!REFUSALS.includes(status)) world.ledger.oddities.push(`${what}: ${status} ${text.slice(0, 300)}`);
  return 'refused';
};

export const judged = (world: World, what: string, answer: Answer | undefined): Outcome =>
  judge(world, what, answer?.status, answer?.text);
