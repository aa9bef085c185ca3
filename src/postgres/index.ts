export type { Agreed } from './agreement.ts';
export { type Database, type DatabaseOptions, type Membership, openDatabase } from './database.ts';
export { DatabaseRefused, ServerError, SlotsTaken } from './errors.ts';
export type { MemberRow, MembersView } from './members.ts';
export type { CommitNotice } from './sink.ts';
export { refuseUnseenData } from './unseen-data.ts';
