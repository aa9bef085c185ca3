import { flag, type Guarded, type JsonObject, object, text, withDefault } from '../../data/guard.ts';
import { recordsOf } from '../../data/records.ts';
import { objectOf, type Spec } from '../../entry/entry.ts';

const Server = object({ id: text, base_url: text, has_auth: withDefault(flag, false) });
export type Server = Guarded<typeof Server>;

export const SERVERS = recordsOf('a2a-servers', Server);

/** The typed token: undefined keeps the stored one, an empty text removes it. */
export const tokenOf = ({ auth }: Spec): string | undefined => {
  if (auth === undefined) return undefined;
  const { token } = objectOf(auth);
  return typeof token === 'string' ? token : '';
};

export const authOf = (token: string | undefined, isStored: boolean): JsonObject | null | undefined => {
  if (token === undefined || (token === '' && !isStored)) return undefined;
  return token === '' ? null : { type: 'bearer', token };
};
