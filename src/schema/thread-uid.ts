import { createHash } from 'node:crypto';
import { ownerOf } from './partition.ts';

/**
 * The name of a thread among those of all owners (identity.md 1.4): the id itself if the service made it, else the id
 * and a digest of the owner. Absent for threads without an owner, whose ids are unique.
 */
export const uidOf = (partition: string, id: string): string | undefined => {
  const owner = ownerOf(partition);
  if (owner === undefined) return undefined;
  return isMadeHere(id) ? id : longUidOf(owner, id);
};

/** The form that is unique also if the owner chose an id of the form that the service makes. */
export const longUidOf = (owner: string, id: string): string => `${id}~${digestOf(owner)}`;

/** Returns whether the id has the form of those that the service makes. */
export const isMadeHere = (id: string): boolean => MADE_HERE.test(id);

/** Returns the id within its partition that a uid contains; undefined for a text that is none. */
export const idInUid = (uid: string): string | undefined => UID.exec(uid)?.[1];

const DIGITS = 22;
/** With as many characters of base64url as `DIGITS`. */
const UID = /^(.+)~[\w-]{22}$/su;
const MADE_HERE = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const digestOf = (owner: string): string =>
  createHash('sha256').update(owner).digest('base64url').slice(0, DIGITS);
