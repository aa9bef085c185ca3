export { type Database, type DatabaseOptions, type Membership, openDatabase } from './database.ts';
export { ConnectionLost, DatabaseRefused, ServerError, SlotsTaken } from './errors.ts';
export type {
  Claimed,
  FenceRequest,
  MemberLoad,
  MemberRow,
  MembersView,
  MemberToJoin,
} from './member-rows.ts';
export type { CommitNotice } from './sink.ts';
