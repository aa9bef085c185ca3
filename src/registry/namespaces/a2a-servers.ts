import { A2aServerSpec } from '../../schema/a2a-server.ts';
import { parseWorded } from '../../schema/problems.ts';
import { fillMarkers, redact } from '../redact.ts';
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
    parseWorded('a2a server spec', A2aServerSpec, spec);
    return spec;
  },
  redact: ({ auth, ...rest }) => (auth === undefined || auth === null ? rest : { ...rest, has_auth: true }),
  audit: (spec) => redact(spec),
  restored: (payload, stored) => withoutEmptyAuth(fillMarkers(payload, stored, 'drop')),
  effective: withoutOverrides('a2a-servers'),
};
