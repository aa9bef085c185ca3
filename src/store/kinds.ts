import type { Key } from './engine/keys.ts';
import { MARKS } from './engine/removals.ts';
import type { Columns } from './engine/sink.ts';
import { accessColumns } from './tables/access-events.ts';
import { BLOB_PARTS } from './tables/blob-parts.ts';
import { budgetCounterColumns } from './tables/budget-counters.ts';
import { connectionColumns } from './tables/connections.ts';
import { deadlineColumns } from './tables/deadlines.ts';
import { dispatchColumns } from './tables/dispatches.ts';
import { eventColumns } from './tables/events.ts';
import { fileColumns } from './tables/files.ts';
import { idempotencyColumns } from './tables/idempotency.ts';
import { keyColumns } from './tables/keys.ts';
import { openWorkColumns } from './tables/open-work.ts';
import { PROBES } from './tables/probes.ts';
import { receivedColumns } from './tables/received-messages.ts';
import { responseColumns } from './tables/responses.ts';
import { runColumns } from './tables/runs.ts';
import { sessionColumns } from './tables/sessions.ts';
import { STORE_KEYS } from './tables/store-keys.ts';
import { threadExpiryColumns } from './tables/thread-expiries.ts';
import { threadColumns } from './tables/threads.ts';
import { traceColumns } from './tables/traces.ts';
import { transcriptColumns } from './tables/transcripts.ts';
import { usageColumns } from './tables/usage.ts';
import { userColumns } from './tables/users.ts';

/**
 * Every table of the store, and its part in a database: shipped with a number, derived from shipped rows by each load,
 * or local to a folder. Only stores with a sink and loads read this.
 *
 * Guarantees: the numbers never change, and a number is never used again.
 */

/** The lineage of the rows: that of their batch, the commons, or none for rows of a member. */
type Home = 'batch' | 'commons' | 'member';

export type ShippedKind = {
  number: number;
  table: string;
  home: Home;
  /** A row is put once: a second row with its key is an error of its writer. */
  isAppended: boolean;
  /** Another process has to act on the row at its time `at`, without a request. */
  isWork: boolean;
  columns(value: unknown, key: Key): Columns;
};

type Options = { home?: Home; isAppended?: boolean; isWork?: boolean };

const NONE: Columns = {};
const noColumns = (): Columns => NONE;

/** Work that is due at once. */
const dueNow = (): Columns => ({ at: 0 });

const kind = <V>(
  number: number,
  table: string,
  columns: (value: V, key: Key) => Columns = noColumns,
  { home = 'batch', isAppended = false, isWork = false }: Options = {},
): ShippedKind => ({
  number,
  table,
  home,
  isAppended,
  isWork,
  // Values of a table are written by its `put` and `add` only, which accept only V.
  columns: (value, key) => columns(value as V, key),
});

const APPENDED = { isAppended: true };
const WORK = { isWork: true };
/** Rows that are not part of a thread, or that batches of several threads change. */
const COMMON = { home: 'commons' } as const;

export const SHIPPED: readonly ShippedKind[] = [
  kind(1, 'threads', threadColumns),
  kind(2, 'runs', runColumns),
  kind(3, 'messages', noColumns, APPENDED),
  kind(4, 'events', eventColumns, APPENDED),
  kind(5, 'dispatches', dispatchColumns),
  kind(6, 'pending'),
  kind(7, 'retractions'),
  kind(8, 'stopped_answers'),
  kind(9, 'state'),
  kind(10, 'deadlines', deadlineColumns, WORK),
  kind(11, 'awaiting_tasks', dueNow, WORK),
  kind(12, 'driven_runs', dueNow, WORK),
  kind(13, 'push_configs'),
  kind(14, 'push_outbox'),
  kind(15, 'push_followed', dueNow, WORK),
  kind(16, 'open_work', openWorkColumns, WORK),
  kind(17, 'traces', traceColumns),
  kind(18, 'trace_events', noColumns, APPENDED),
  kind(19, 'trace_references'),
  kind(20, 'config', noColumns, COMMON),
  kind(21, 'documents', noColumns, COMMON),
  kind(22, 'publications', noColumns, { ...COMMON, isAppended: true }),
  // A preview becomes a version when it is published, so its row is put again.
  kind(23, 'resource_versions', noColumns, COMMON),
  kind(24, 'audit', noColumns, { ...COMMON, isAppended: true }),
  kind(25, 'datasets', noColumns, COMMON),
  kind(26, 'dataset_fixtures', noColumns, COMMON),
  kind(27, 'eval_runs', noColumns, COMMON),
  kind(28, 'eval_run_items', noColumns, COMMON),
  kind(29, 'eval_run_work', noColumns, COMMON),
  kind(30, 'runtime_stats', noColumns, { home: 'member' }),
  kind(31, 'users', userColumns, COMMON),
  kind(32, 'user_seen', noColumns, COMMON),
  kind(33, 'keys', keyColumns, COMMON),
  kind(34, 'key_uses', noColumns, COMMON),
  kind(35, 'sessions', sessionColumns, COMMON),
  kind(36, 'session_uses', noColumns, COMMON),
  kind(37, 'tickets'),
  kind(38, 'files', fileColumns),
  kind(39, 'idempotency', idempotencyColumns, COMMON),
  kind(40, 'counters_spent', budgetCounterColumns, COMMON),
  kind(41, 'usage', usageColumns, COMMON),
  kind(42, 'responses', responseColumns),
  kind(43, 'transcripts', transcriptColumns),
  // Derived from the sealed part of a record, which a load does not open.
  kind(44, 'config_unpublished', noColumns, COMMON),
  kind(45, 'access_events', accessColumns, COMMON),
  kind(46, 'admin_addresses', noColumns, COMMON),
  kind(47, 'authorizations', noColumns, COMMON),
  kind(48, 'connections', connectionColumns, COMMON),
  kind(49, 'mcp_catalogs', noColumns, COMMON),
  kind(50, 'thread_expiries', threadExpiryColumns, WORK),
  kind(51, 'received_messages', receivedColumns, COMMON),
  kind(52, 'past_states'),
  kind(53, MARKS, dueNow, WORK),
  kind(54, 'agent_drafts', noColumns, COMMON),
  kind(55, BLOB_PARTS, noColumns, COMMON),
  kind(56, STORE_KEYS, noColumns, COMMON),
  kind(57, PROBES, noColumns, { home: 'member' }),
];

/** Tables of the folder alone. */
export const LOCAL: readonly string[] = ['structures', 'meta'];
