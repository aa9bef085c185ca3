import { ConnectionLost, ServerError } from './errors.ts';
import type { SendResult } from './settle.ts';

/** What an error of a commit means (cluster.md 5.6): the first row whose codes match. */
const RESULTS: readonly { codes: RegExp; result: SendResult }[] = [
  { codes: /^TR001$/, result: 'fenced' },
  { codes: /^TR002$/, result: 'behind' },
  { codes: /^(?:TR003|TR004)$/, result: 'faulty' },
  // The server, or a pooler, has ended the connection: the transaction may be committed.
  { codes: /^(?:57P01|57P02|57P03|57P05|53300)$/, result: 'lost' },
  { codes: /^08/, result: 'lost' },
  { codes: /^(?:40001|40P01|55P03)$/, result: 'contended' },
  { codes: /^(?:22|23|54)/, result: 'faulty' },
];

/** The name of the primary key of the chain. */
const CHAIN = 'commit_pkey';

/** Returns the result of a statement that has failed. */
export const sendResultOf = (error: unknown): SendResult => {
  if (error instanceof ConnectionLost) return error.wasSent ? 'lost' : 'unsent';
  // Rows that cannot be encoded were not sent.
  if (!(error instanceof ServerError)) return 'faulty';
  if (error.code === '23505' && error.constraint === CHAIN) return 'taken';
  return RESULTS.find(({ codes }) => codes.test(error.code))?.result ?? 'unwritable';
};

type Refusal = 'not-owner' | 'clash' | 'invalid';

/** Returns why a batch that was sent alone is refused. */
export const refusalOf = (error: unknown): Refusal => {
  if (!(error instanceof ServerError)) return 'invalid';
  return error.code === 'TR003' ? 'not-owner' : error.code === 'TR004' ? 'clash' : 'invalid';
};
