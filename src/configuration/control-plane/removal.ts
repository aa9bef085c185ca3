import type { AuditDraft } from '../../schema/audit-event.ts';
import type { ConfigNamespace, ConfigRecord } from '../../schema/config-record.ts';
import { Conflict } from '../../schema/outcome.ts';
import type { Store } from '../../store/index.ts';
import { previewRemoval, type Referrers, unusedModels, usedBy } from '../dependents.ts';
import { refuseReadOnly } from '../namespaces/namespaces.ts';
import type { ConfigService } from './api.ts';
import { missing } from './entries.ts';
import { entriesOf } from './parts.ts';
import type { Publisher } from './publisher.ts';
import type { WriteDeps } from './writes.ts';

/**
 * Handles DELETE (config.md 6.2). One commit removes an entry; a forced removal of a provider includes its unused
 * models, and dependents that remain are reported.
 */

export const createRemoval = ({
  namespaces,
  publisher,
  store,
  lock,
}: Pick<WriteDeps, 'namespaces' | 'publisher' | 'lock'> & { store: Pick<Store, 'agentDrafts'> }): Pick<
  ConfigService,
  'remove' | 'removalPreview' | 'usedBy'
> => {
  const recordOf = (namespace: ConfigNamespace, id: string): ConfigRecord => {
    const record = publisher.stored()[namespace].get(id);
    if (!record) throw missing(namespace, id);
    return record;
  };

  /** Returns the records to remove: with `force`, the unused models of a provider precede it. */
  const victims = (record: ConfigRecord, force: boolean): ConfigRecord[] => {
    const { namespace, id } = record;
    const referrers = referrersIn(publisher);
    if (!force) {
      const used_by = usedBy(namespace, id, referrers);
      if (used_by.length === 0) return [record];
      throw new Conflict('cannot delete: other records depend on this resource', { details: { used_by } });
    }
    const models = namespace === 'providers' ? unusedModels(id, referrers) : [];
    return [...models.map((model) => recordOf('models', model)), record];
  };

  return {
    async remove(name, id, force, caller) {
      const namespace = namespaces.of(name);
      refuseReadOnly(namespace);
      await lock(async () => {
        const record = recordOf(namespace.name, id);
        const gone = victims(record, force);
        const candidate = publisher.candidate(
          gone.map((each) => ({ namespace: each.namespace, id: each.id, record: undefined })),
        );
        const events = gone.map(
          (each): AuditDraft => ({
            action: 'delete',
            resource: `${each.namespace}/${each.id}`,
            before: namespaces.of(each.namespace).audit(each.spec),
            ...(force && each === record && { forced: true }),
          }),
        );
        await publisher.commit(candidate, events, caller, {
          also(batch) {
            if (namespace.name === 'agents') store.agentDrafts.remove(batch, id);
          },
        });
      });
    },
    usedBy(name, id) {
      const namespace = namespaces.of(name).name;
      recordOf(namespace, id);
      return usedBy(namespace, id, referrersIn(publisher));
    },
    removalPreview(providerId) {
      recordOf('providers', providerId);
      return { ...previewRemoval(providerId, referrersIn(publisher)) };
    },
  };
};

const referrersIn = (publisher: Pick<Publisher, 'current' | 'stored'>): Referrers => {
  const { records, parts, tools, pluginTools } = publisher.current();
  const { agents } = publisher.stored();
  return {
    ...records,
    // Discovered agents depend on their server only, and do not prevent a removal.
    agents: records.agents.filter(({ id }) => agents.has(id)),
    skills: entriesOf(parts, 'skill').map(({ spec }) => spec),
    tools: [...tools.map(({ descriptor }) => descriptor), ...pluginTools()].map(({ id }) => id),
  };
};
