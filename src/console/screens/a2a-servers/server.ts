import {
  flag,
  type Guarded,
  type JsonObject,
  number,
  object,
  optional,
  text,
  withDefault,
} from '../../data/guard.ts';
import { recordsOf } from '../../data/records.ts';
import { allOf, jsonObject, required, webAddress } from '../../entry/checks.ts';
import { type EntryKind, type Errors, objectOf, type Spec } from '../../entry/entry.ts';
import { say } from '../../i18n/locale.ts';
import { texts } from './texts.ts';

export const SERVER: EntryKind = { namespace: 'a2a-servers', entity: 'entity.a2aServer' };

const Server = object({
  id: text,
  base_url: text,
  has_auth: withDefault(flag, false),
  timeout_ms: optional(number),
});
export type Server = Guarded<typeof Server>;

export const SERVERS = recordsOf('a2a-servers', Server);

const LONGEST_MS = 30_000;

const timeout = ({ timeout_ms: ms }: Spec): [string, string][] =>
  ms === undefined ||
  ms === null ||
  (typeof ms === 'number' && Number.isInteger(ms) && ms >= 1 && ms <= LONGEST_MS)
    ? []
    : [['timeout_ms', say(texts, 'problem.timeout')]];

export const FIELDS = ['base_url', 'timeout_ms', 'target', 'options', 'auth'];

export const check = (draft: Spec): Errors =>
  allOf(required('base_url'), webAddress('base_url'), () => timeout(draft), jsonObject('options'))(draft);

/** Whether a token is stored is no part of the entry. */
export const bodyOf = ({ has_auth: _, ...spec }: JsonObject): JsonObject => spec;

/** What is typed of a token: undefined keeps what is stored, an empty text removes it. */
export const tokenOf = ({ auth }: Spec): string | undefined => {
  if (auth === undefined) return undefined;
  const { token } = objectOf(auth);
  return typeof token === 'string' ? token : '';
};

export const withToken = (token: string | undefined, isStored: boolean): JsonObject => {
  if (token === undefined || (token === '' && !isStored)) return { auth: undefined };
  return { auth: token === '' ? null : { type: 'bearer', token } };
};
