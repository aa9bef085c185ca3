export { type Database, type DatabaseOptions, type Membership, openDatabase } from './database.ts';
export type {
  Claimed,
  FenceRequest,
  MemberLoad,
  MemberRow,
  MembersView,
  MemberToJoin,
} from './member-rows.ts';
