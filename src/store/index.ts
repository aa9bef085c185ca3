export { backupFolder, refuseBackup } from './engine/backup.ts';
export { type Batch, type BatchPlace, createBatch } from './engine/batch.ts';
export { areBlobsHeld, blobPath, incomingIn, nameBlob } from './engine/blob-folder.ts';
export { checkId } from './engine/keys.ts';
export { MOST_EXAMINED, type Page, type PageOf, Position, type Search } from './engine/page.ts';
export { makePrivate } from './engine/private-files.ts';
export { KEY_FILE } from './engine/secrets-key.ts';
export { examine, type Finding, type Report, STRAY_RUN } from './repair/doctor.ts';
export { openStore, type Store, type StoredBlobs, type StoreOptions } from './store.ts';
export type { AccessFilter, AccessQuery } from './tables/access-events.ts';
export type { AuditQuery } from './tables/audit.ts';
export type { BudgetCounter, BudgetCounterTable, StoredBudgetCounter } from './tables/budget-counters.ts';
export type { DatasetHead } from './tables/datasets.ts';
export type { Deadline } from './tables/deadlines.ts';
export type { OpenDispatch } from './tables/dispatches.ts';
export type { EvalRunHead, EvalRunPosition, EvalRunQuery } from './tables/eval-runs.ts';
export type { EventScope } from './tables/events.ts';
export type { FileQuery, FileRow } from './tables/files.ts';
export type { KeyRow } from './tables/keys.ts';
export type { ListedRun } from './tables/listed-runs.ts';
export type { MessageBounds, MessageRow } from './tables/messages.ts';
export type { PastState } from './tables/past-states.ts';
export type { ScopedPending } from './tables/pending.ts';
export type { VersionMark } from './tables/publications.ts';
export type { PushConfigKey as PushPlace, PushConfigRow, PushTarget } from './tables/push-configs.ts';
export type { PushEvent, PushMark } from './tables/push-outbox.ts';
export type { Retraction } from './tables/retractions.ts';
export type { RunFilter, RunPage } from './tables/run-list.ts';
export type { RunningRun } from './tables/runs.ts';
export type { StoredBucket, StoredModel, StoredTally } from './tables/runtime-stats.ts';
export type { SessionRow } from './tables/sessions.ts';
export type { TaskFilter, TaskPosition, TimedRun } from './tables/tasks.ts';
export type { ThreadExpiry } from './tables/thread-expiries.ts';
export type { ThreadFilter, ThreadRecord } from './tables/threads.ts';
export type {
  Expired,
  TraceFilter,
  TraceHead,
  TracePage,
  TraceReference,
  TraceTable,
} from './tables/traces.ts';
export type { Transcript } from './tables/transcripts.ts';
export type { StoredUsage, UsageKey, UsagePeriod, UsageSums, UsageTable } from './tables/usage.ts';
export type { UserRow } from './tables/users.ts';
export type { TransferPlan } from './transfer-plan.ts';
