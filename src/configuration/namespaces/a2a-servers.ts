import { A2aServerSpec } from '../../schema/a2a-server.ts';
import { isObject } from '../../schema/endpoint.ts';
import { Invalid } from '../../schema/outcome.ts';
import { parseWorded } from '../../schema/problems.ts';
import { fillMarkers, findMarker, redact } from '../../schema/redaction/redact.ts';
import { hasQueryOrFragment, hasUserInfo } from '../../schema/web-address.ts';
import { withoutEmptyAuth } from './auth.ts';
import { entrySchema } from './json-schema.ts';
import { type Namespace, PLAIN, withoutOverrides } from './namespace.ts';
import { checkHeaders, checkToken } from './sendable.ts';

/** Implements config.md 3.6. `auth` is write-only: a replacement without it keeps the stored one, null clears it. */
export const a2aServersNamespace: Namespace = {
  ...PLAIN,
  name: 'a2a-servers',
  listed: false,
  schema: entrySchema('A2A server', A2aServerSpec),
  prepare: (given, stored, dropped) => {
    const isKept = given.auth === undefined && stored !== undefined && isObject(stored.auth);
    const marked = isKept ? { ...given, ...redact({ auth: stored.auth ?? null }) } : given;
    const filled = fillMarkers(marked, stored, { dropped });
    const { has_auth: _, auth, ...rest } = dropped ? withoutEmptyAuth(filled) : filled;
    return auth === undefined || auth === null ? rest : { ...rest, auth };
  },
  check: (spec) => {
    const { base_url, auth, options } = parseWorded('a2a server spec', A2aServerSpec, spec);
    if (hasUserInfo(base_url)) {
      throw new Invalid("a2a server base_url must not contain user info: give a token in 'auth'");
    }
    if (hasQueryOrFragment(base_url)) {
      throw new Invalid("a2a server base_url must not contain a query or a fragment: give a token in 'auth'");
    }
    checkToken('a2a server auth token', auth);
    checkHeaders('a2a server options.headers', options.headers);
    const marker = findMarker(spec);
    if (marker) throw new Invalid(`a2a server ${marker.join('.')} cannot be a redacted placeholder`);
    return spec;
  },
  redact: ({ auth, ...rest }) => ({
    ...redact(rest),
    ...(auth !== undefined && auth !== null && { has_auth: true }),
  }),
  // An entry without a token stays without one.
  restored: (payload) => ({ auth: null, ...payload }),
  effective: withoutOverrides('a2a-servers'),
};
