import type { Message } from '../../schema/message.ts';
import { createBatch } from '../../store/index.ts';
import type { RuntimeDeps } from '../deps.ts';
import { createLedger, type Ledger, type LedgerDeps, type LedgerStore, UNFOLLOWED } from './ledger.ts';

/** The ledger of a thread that is not stored: it exists only in memory, and all writes are discarded. */

const nothing = (): void => {};
const none = (): undefined => undefined;
const empty = (): [] => [];

/** A store that is always empty and discards all writes. */
const NOWHERE: Omit<LedgerStore, 'tickets'> = {
  batch: createBatch,
  commit: () => Promise.resolve(),
  threads: { get: none, lineageOf: () => 0n, put: nothing, remove: nothing, partitionsWith: empty },
  transcripts: { removeAll: nothing },
  messages: { last: none, range: empty, append: nothing },
  retractions: { put: nothing },
  stopped: { put: nothing, removeFrom: nothing },
  removals: { begin: nothing },
  pending: { of: empty, put: nothing, remove: nothing, removeAll: nothing },
  runs: { waitingOf: empty, put: (_batch, _scope, _after, _before, now = 0) => now },
  dispatches: { put: nothing },
  deadlines: { put: nothing, remove: nothing },
  awaiting: { put: nothing, remove: nothing },
  driven: { put: nothing, remove: nothing },
  pastStates: { at: none, put: nothing },
  state: { get: none, put: nothing, remove: nothing },
  files: { removeThread: nothing },
  events: { last: () => 0, append: nothing },
  idempotency: { put: nothing },
};

/** Every earlier call of the history may have had a ticket: the client knows the id of its call. */
const ticketsIn = (history: readonly Message[]): LedgerStore['tickets'] => {
  const calls = new Map<string, number>();
  const last = history.findLastIndex(({ role }) => role === 'assistant');
  for (const { tool_calls = [] } of history.slice(0, Math.max(last, 0)))
    for (const { id } of tool_calls) calls.set(id, (calls.get(id) ?? 0) + 1);
  const ids = new Set<string>();
  return {
    ofCall: (_scope, _thread_id, call_id) => calls.get(call_id) ?? 0,
    has: (_scope, _thread_id, ticket_id) => ids.has(ticket_id),
    put(_batch, _scope, _thread_id, { ticket_id, call_id, ofCall }) {
      ids.add(ticket_id);
      calls.set(call_id, ofCall);
    },
    removeAll: nothing,
  };
};

/** Creates such a ledger with the history that the caller provides. */
export const unstoredLedger = (
  { clock, ids, observe }: Pick<RuntimeDeps, 'clock' | 'ids' | 'observe'>,
  { scope, id, history }: { scope: string; id: string; history: readonly Message[] },
): Ledger => {
  const deps: LedgerDeps = {
    store: { ...NOWHERE, tickets: ticketsIn(history) },
    clock,
    ids,
    events: undefined,
    runs: undefined,
    traces: undefined,
    legs: undefined,
    observe,
    ...UNFOLLOWED,
  };
  const ledger = createLedger(deps, scope, id);
  ledger.record = { thread: { id, metadata: {} }, epoch: 0 };
  ledger.history = [...history];
  ledger.tail = { seq: history.length, external: 0 };
  return ledger;
};
