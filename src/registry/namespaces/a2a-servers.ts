import { A2aServerSpec } from '../../schema/a2a-server.ts';
import { Invalid } from '../../schema/outcome.ts';
import { parseWorded } from '../../schema/problems.ts';
import { fillMarkers, findMarker, redact } from '../../schema/redaction/redact.ts';
import { hasQueryOrFragment, hasUserInfo } from '../../schema/web-address.ts';
import { withoutEmptyAuth } from './auth.ts';
import { entrySchema } from './json-schema.ts';
import { type Namespace, PLAIN, withoutOverrides } from './namespace.ts';

/** config.md 3.6. `auth` is write-only: a replacement without it keeps the stored one, null clears it. */
export const a2aServersNamespace: Namespace = {
  ...PLAIN,
  name: 'a2a-servers',
  listed: false,
  schema: entrySchema('A2A server', A2aServerSpec),
  prepare: (given, stored) => {
    const { has_auth: _, auth, ...rest } = fillMarkers(given, stored, 'keep');
    const kept = auth === undefined ? stored?.auth : auth;
    return kept === undefined || kept === null ? rest : { ...rest, auth: kept };
  },
  check: (spec) => {
    const { base_url } = parseWorded('a2a server spec', A2aServerSpec, spec);
    if (hasUserInfo(base_url)) {
      throw new Invalid("a2a server base_url must not contain user info: give a token in 'auth'");
    }
    if (hasQueryOrFragment(base_url)) {
      throw new Invalid("a2a server base_url must not contain a query or a fragment: give a token in 'auth'");
    }
    const marker = findMarker(spec);
    if (marker) throw new Invalid(`a2a server ${marker.join('.')} cannot be a redacted placeholder`);
    return spec;
  },
  redact: ({ auth, ...rest }) => ({
    ...redact(rest),
    ...(auth !== undefined && auth !== null && { has_auth: true }),
  }),
  restored: (payload, stored) => withoutEmptyAuth(fillMarkers(payload, stored, 'drop')),
  effective: withoutOverrides('a2a-servers'),
};
