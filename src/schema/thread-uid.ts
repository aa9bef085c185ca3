import { createHash } from 'node:crypto';
import { MAX_ID_BYTES } from './id.ts';
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

/**
 * Another uid for the id, for the case that the usual one is in use or too long. Threads are found by the beginning of
 * their uid, so only an id that is too long for it is shortened.
 */
export const otherUidOf = (id: string, salt: string): string => {
  const isShort = Buffer.byteLength(id) + 1 + DIGITS <= MAX_ID_BYTES;
  return `${isShort ? id : Array.from(id).slice(0, SHORTENED).join('')}~${digestOf(salt)}`;
};

/** Characters, of at most 4 bytes each. */
const SHORTENED = 100;

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
