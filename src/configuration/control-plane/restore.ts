import type { AuditEvent } from '../../schema/audit-event.ts';
import type { ConfigRecord, ConfigVersion } from '../../schema/config-record.ts';
import type { JsonObject } from '../../schema/endpoint.ts';
import { Invalid, NotFound, Unavailable, Unprocessable } from '../../schema/outcome.ts';
import type { Dropped } from '../../schema/redaction/redact.ts';
import { checkId, type Store } from '../../store/index.ts';
import { openEnvelope } from '../namespaces/envelope.ts';
import type { Namespace } from '../namespaces/namespace.ts';
import { refuseReadOnly } from '../namespaces/namespaces.ts';
import type { ConfigService } from './api.ts';
import { resolveSpec } from './content.ts';
import { nextRecord, USER } from './records.ts';
import { publishedVersion } from './versions.ts';
import type { WriteDeps } from './writes.ts';

/**
 * Restores an entry to a payload of the audit log, or an agent to a published version (config.md 8, 8.1). The entry is stored but not published: the record
 * keeps the live version until the next write publishes everything. A payload brings no secrets: stored ones are kept for
 * an unchanged destination, and the others are dropped, which the diagnostics report.
 */
export const createRestore = ({
  namespaces,
  publisher,
  audit,
  clock,
  lock,
  store,
}: Omit<WriteDeps, 'fetch'> & { store: Pick<Store, 'publications'> }): Pick<ConfigService, 'restore'> => {
  const numbered = (namespace: Namespace, id: string, version: number): JsonObject => {
    if (namespace.name !== 'agents')
      throw new Unprocessable(`${namespace.name} entries have no numbered versions`);
    return namespace.audit(publishedVersion(store, id, version));
  };

  const payloadIn = (namespace: Namespace, id: string, version: string | number): JsonObject => {
    if (typeof version === 'number') return numbered(namespace, id, version);
    if (!audit.enabled) throw new Unavailable('audit log is not configured');
    const event = audit.get(version);
    if (!event) throw new NotFound('version not found', { details: { reason: 'unknown' } });
    const resource = `${namespace.name}/${id}`;
    if (event.resource !== resource && !event.resource.startsWith(`${resource}/`)) {
      throw new Unprocessable('cross-resource restore not allowed');
    }
    const payload = payloadOf(event);
    if (!payload) throw new Unprocessable('this event type is not restorable');
    return payload;
  };

  return {
    restore: async (name, id, version, { actor, ...caller }) => {
      const namespace = namespaces.of(name);
      refuseReadOnly(namespace);
      return lock(async () => {
        const payload = payloadIn(namespace, id, version);
        const before = publisher.stored()[namespace.name].get(id);
        const dropped_secrets = new Set<string>();
        const spec = specFrom(namespace, id, payload, {
          stored: before && resolveSpec(namespace, before),
          dropped: (path) => dropped_secrets.add(path),
        });
        const record: ConfigRecord = {
          ...nextRecord(before, {
            namespace: namespace.name,
            id,
            spec,
            source: USER,
            dropped_secrets,
            now: clock.now(),
            actor,
          }),
          published: liveOf(before),
        };
        const event = {
          action: 'restore' as const,
          resource: `${namespace.name}/${id}`,
          restored_from: String(version),
          ...(before && { before: namespace.audit(before.spec) }),
          after: namespace.audit(spec),
        };
        await publisher.store([{ namespace: namespace.name, id, record }], [event], { actor, ...caller });
        return namespace.redact(spec);
      });
    },
  };
};

const PAYLOAD: Partial<Record<AuditEvent['action'], 'before' | 'after'>> = {
  create: 'after',
  update: 'after',
  publish: 'after',
  restore: 'after',
  delete: 'before',
};

/** Payloads of events are JSON. */
const payloadOf = (event: AuditEvent): JsonObject | undefined => {
  const side = PAYLOAD[event.action];
  return side && event[side];
};

/** @throws Unprocessable */
const specFrom = (
  namespace: Namespace,
  id: string,
  payload: JsonObject,
  { stored, dropped }: { stored: JsonObject | undefined; dropped: Dropped },
): JsonObject => {
  try {
    checkId("field 'id'", id);
    const { body } = openEnvelope(namespace.restored(payload), id);
    return namespace.check(namespace.prepare(body, stored, dropped));
  } catch (cause) {
    if (cause instanceof Invalid) throw new Unprocessable(cause.message, { cause });
    throw cause;
  }
};

/** Returns the version that runs use now. */
const liveOf = (before: ConfigRecord | undefined): ConfigVersion | null => {
  if (!before) return null;
  if (before.published !== undefined) return before.published;
  const { spec, user_overrides, hidden } = before;
  return { spec, ...(user_overrides && { user_overrides }), hidden };
};
