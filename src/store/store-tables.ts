import type { Counters } from './engine/counters.ts';
import type { Environment } from './engine/environment.ts';
import type { MediaTexts } from './engine/media-texts.ts';
import type { Order } from './engine/order.ts';
import type { PendingBlobs } from './engine/pending-blobs.ts';
import type { Removals } from './engine/removals.ts';
import { type AccessEventTable, createAccessEventTable } from './tables/access-events.ts';
import { type BudgetCounterTable, createBudgetCounterTable } from './tables/budget-counters.ts';
import { type CredentialTable, createCredentialTable } from './tables/credentials.ts';
import { createDatasetTable, type DatasetTable } from './tables/datasets.ts';
import { createDeadlineTable, type DeadlineTable } from './tables/deadlines.ts';
import { createDispatchTable, type DispatchTable } from './tables/dispatches.ts';
import { createEndedWork } from './tables/ended-work.ts';
import { createEvalRunTable, type EvalRunTable } from './tables/eval-runs.ts';
import { createEventTable, type EventTable } from './tables/events.ts';
import { createFileTable, type FileTable } from './tables/files.ts';
import { createIdempotencyTable, type IdempotencyTable } from './tables/idempotency.ts';
import { createKeyTable, type KeyTable } from './tables/keys.ts';
import { createListedRuns, type ListedRuns } from './tables/listed-runs.ts';
import { createMcpCatalogTable, type McpCatalogTable } from './tables/mcp-catalogs.ts';
import { createMessageTable, type MessageTable } from './tables/messages.ts';
import { createOpenWork } from './tables/open-work.ts';
import { createPastStateTable, type PastStateTable } from './tables/past-states.ts';
import { createPendingTable, type PendingTable } from './tables/pending.ts';
import { createPushOutbox, type PushOutbox } from './tables/push-outbox.ts';
import { createReceivedTable, type ReceivedTable } from './tables/received-messages.ts';
import { createResponseTable, type ResponseTable } from './tables/responses.ts';
import { createRetractionTable, type RetractionTable } from './tables/retractions.ts';
import { createRunTable, type RunTable } from './tables/runs.ts';
import { createRuntimeStatsTable, type RuntimeStatsTable } from './tables/runtime-stats.ts';
import { createSessionTable, type SessionTable } from './tables/sessions.ts';
import { createStateTable, type StateTable } from './tables/state.ts';
import { createStoppedTable, type StoppedTable } from './tables/stopped-answers.ts';
import { createTaskIndex, type TaskTable } from './tables/tasks.ts';
import { createThreadExpiryTable, type ThreadExpiryTable } from './tables/thread-expiries.ts';
import { createThreadTable, type ThreadTable } from './tables/threads.ts';
import { createTicketTable, type TicketTable } from './tables/tickets.ts';
import { createTraceTable, type TraceTable } from './tables/traces.ts';
import { createTranscriptTable, type TranscriptTable } from './tables/transcripts.ts';
import { createUsageTable, type UsageTable } from './tables/usage.ts';
import { createUserTable, type UserTable } from './tables/users.ts';

/** Every table of a store but those of the control plane. */

/** The tables that contain no secrets. */
export type Tables = {
  readonly threads: ThreadTable;
  readonly threadExpiries: ThreadExpiryTable;
  readonly transcripts: TranscriptTable;
  readonly messages: MessageTable;
  readonly pending: PendingTable;
  readonly retractions: RetractionTable;
  readonly stopped: StoppedTable;
  readonly pastStates: PastStateTable;
  readonly responses: ResponseTable;
  readonly received: ReceivedTable;
  /** Every ticket that a thread has ever issued. */
  readonly tickets: TicketTable;
  readonly runs: RunTable;
  readonly tasks: TaskTable;
  readonly dispatches: DispatchTable;
  readonly deadlines: DeadlineTable;
  /** Runs that wait for background tasks. */
  readonly awaiting: ListedRuns;
  /** Runs of sub-agents that are not done, or whose parents have not processed their end. */
  readonly driven: ListedRuns;
  readonly events: EventTable;
  readonly state: StateTable;
  readonly pushOutbox: PushOutbox;
  readonly traces: TraceTable;
  readonly datasets: DatasetTable;
  readonly evalRuns: EvalRunTable;
  readonly runtimeStats: RuntimeStatsTable;
  readonly users: UserTable;
  readonly keys: KeyTable;
  readonly sessions: SessionTable;
  /** Digests of credentials. */
  readonly credentials: CredentialTable;
  readonly budgetCounters: BudgetCounterTable;
  readonly mcpCatalogs: McpCatalogTable;
  readonly usage: UsageTable;
  readonly accessEvents: AccessEventTable;
  readonly files: FileTable;
  readonly idempotency: IdempotencyTable;
};

/** Parts that several tables share. */
type Parts = {
  counters: Counters;
  removals: Removals;
  order: Order;
  linkKey: Buffer;
  pendingBlobs: PendingBlobs;
  media: MediaTexts;
};

export const createTables = (env: Environment, parts: Parts): Tables => {
  const { counters, removals, order, linkKey, pendingBlobs, media } = parts;
  const files = createFileTable(env, counters, { linkKey, pendingBlobs });
  const tasks = createTaskIndex(env, counters);
  const runs = createRunTable(env, { counters, order, tasks });
  const threadExpiries = createThreadExpiryTable(env);
  return {
    threads: createThreadTable(env, counters, threadExpiries),
    threadExpiries,
    transcripts: createTranscriptTable(env),
    messages: createMessageTable(env, { answers: runs, removals, media, files }),
    pending: createPendingTable(env),
    retractions: createRetractionTable(env, removals),
    stopped: createStoppedTable(env, removals),
    pastStates: createPastStateTable(env, removals),
    responses: createResponseTable(env, removals),
    received: createReceivedTable(env),
    tickets: createTicketTable(env),
    runs,
    tasks,
    dispatches: createDispatchTable(env, {
      answers: runs,
      order,
      openWork: createOpenWork(env),
      endedWork: createEndedWork(env),
    }),
    deadlines: createDeadlineTable(env),
    awaiting: createListedRuns(env, 'awaiting_tasks'),
    driven: createListedRuns(env, 'driven_runs'),
    events: createEventTable(env, runs, media),
    state: createStateTable(env),
    pushOutbox: createPushOutbox(env, { order }),
    traces: createTraceTable(env),
    datasets: createDatasetTable(env),
    evalRuns: createEvalRunTable(env),
    runtimeStats: createRuntimeStatsTable(env),
    users: createUserTable(env),
    keys: createKeyTable(env),
    sessions: createSessionTable(env),
    credentials: createCredentialTable(env),
    budgetCounters: createBudgetCounterTable(env),
    mcpCatalogs: createMcpCatalogTable(env),
    usage: createUsageTable(env),
    accessEvents: createAccessEventTable(env),
    files,
    idempotency: createIdempotencyTable(env),
  };
};
