export { backupFolder } from './backup.ts';
export type { Batch } from './batch.ts';
export type { EventScope } from './events.ts';
export { MAX_ID_BYTES } from './keys.ts';
export type { MessageBounds, MessageRow } from './messages.ts';
export { type Page, Position } from './page.ts';
export type { Retraction } from './retractions.ts';
export { openStore, type Store, type StoreOptions } from './store.ts';
export type { ThreadFilter, ThreadRecord } from './threads.ts';
