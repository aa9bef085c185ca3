import type { AuditDraft } from '../../schema/audit-event.ts';
import type { JsonObject } from '../../schema/endpoint.ts';
import { NotFound } from '../../schema/outcome.ts';
import type { Store } from '../../store/index.ts';
import type { ConfigService } from './api.ts';
import { resolveSpec } from './content.ts';
import {
  checkEffects,
  createRecord,
  draftOf,
  guarded,
  type Prepared,
  prepare,
  type WriteDeps,
} from './writes.ts';

/**
 * Drafts of agents (config.md 8.2): checked like a save, and stored without being published. Publishing a draft is the
 * save of its content, in the commit that removes it.
 */
export const createDrafts = (
  deps: Omit<WriteDeps, 'fetch'> & { store: Pick<Store, 'agentDrafts' | 'batch' | 'commit'> },
): ConfigService['drafts'] => {
  const { store, publisher, audit, lock } = deps;
  const agents = deps.namespaces.of('agents');

  const stored = (id: string): JsonObject => {
    const spec = store.agentDrafts.get(id);
    if (!spec) throw new NotFound(`draft not found: agents/${id}`);
    return spec;
  };

  const prepared = (id: string, body: unknown): Prepared => {
    const record = publisher.stored().agents.get(id);
    const base = store.agentDrafts.get(id) ?? (record && resolveSpec(agents, record));
    const draft = prepare(deps, agents, body, { mode: 'replace', id }, base);
    checkEffects(deps, agents, createRecord(deps, agents, draft, ''));
    return draft;
  };

  const eventOf = (id: string, action: AuditDraft['action'], after?: JsonObject): AuditDraft => {
    const before = store.agentDrafts.get(id);
    return {
      action,
      resource: `agents/${id}/draft`,
      ...(before && { before: agents.audit(before) }),
      ...(after && { after: agents.audit(after) }),
    };
  };

  return {
    get: (id) => agents.redact(stored(id)),
    put: async (id, body, caller) =>
      lock(async () => {
        const { spec } = prepared(id, body);
        const event = eventOf(id, store.agentDrafts.has(id) ? 'update' : 'create', spec);
        const also = (batch: Parameters<typeof store.agentDrafts.put>[0]): void =>
          store.agentDrafts.put(batch, id, spec);
        await publisher.store([], [event], caller, also);
        return agents.redact(spec);
      }),
    remove: async (id, caller) =>
      lock(async () => {
        stored(id);
        await publisher.store([], [eventOf(id, 'delete')], caller, (batch) =>
          store.agentDrafts.remove(batch, id),
        );
      }),
    publish: async (id, caller, keyed) =>
      lock(async () => {
        const draft = prepare(deps, agents, stored(id), { mode: 'replace', id }, stored(id));
        const event = draftOf(agents, draft, 'publish');
        return guarded(audit, event, caller, async () => {
          const record = createRecord(deps, agents, draft, caller.actor);
          const candidate = checkEffects(deps, agents, record);
          const saved = agents.redact(record.spec);
          await publisher.commit(candidate, [event], caller, {
            keyed: keyed?.(saved),
            also: (batch) => store.agentDrafts.remove(batch, id),
          });
          return saved;
        });
      }),
  };
};
