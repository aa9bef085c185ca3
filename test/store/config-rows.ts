import type { AuditEvent } from '../../src/schema/audit-event.ts';
import type { ConfigRecord } from '../../src/schema/config-record.ts';
import type { Publication, ResourceVersion } from '../../src/schema/publication.ts';

/** Minimal valid rows of the configuration, with the fields that a test sets. */

export const record = (id: string, fields: Partial<ConfigRecord> = {}): ConfigRecord => ({
  namespace: 'models',
  id,
  spec: { id, upstream_model: 'large' },
  source: { kind: 'user' },
  hidden: false,
  created_at: 1765000400000,
  updated_at: 1765000400000,
  revision: 1,
  actor: 'anonymous',
  ...fields,
});

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** `nth` is the random part. */
export const ulidAt = (ms: number, nth: number): string => {
  let rest = (BigInt(ms) << 80n) + BigInt(nth);
  let id = '';
  for (let digit = 0; digit < 26; digit += 1) {
    id = CROCKFORD.charAt(Number(rest % 32n)) + id;
    rest /= 32n;
  }
  return id;
};

export const auditEvent = (id: string, fields: Partial<AuditEvent> = {}): AuditEvent => ({
  id,
  ts: '2025-12-06T05:53:20.000Z',
  actor: 'anonymous',
  action: 'update',
  resource: 'agents/a',
  ip: '127.0.0.1',
  request_id: null,
  restored_from: null,
  ...fields,
});

export const version = (
  id: string,
  number: number,
  fields: Partial<ResourceVersion> = {},
): ResourceVersion => ({
  kind: 'model',
  id,
  version: number,
  hash: `sha256:${number}`,
  value: { id },
  ...fields,
});

export const publication = (snapshot_version: number, fields: Partial<Publication> = {}): Publication => ({
  publication_id: `p${snapshot_version}`,
  scope_id: 'default',
  snapshot_version,
  entries: [{ kind: 'model', id: 'a', version: 1 }],
  source_config_revisions: [{ namespace: 'models', id: 'a', revision: 1 }],
  created_at_ms: 1765000400000,
  metadata: {},
  ...fields,
});
