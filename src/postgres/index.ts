export { type Database, type DatabaseOptions, type Membership, openDatabase } from './database.ts';
export type { CommitNotice } from './sink.ts';
