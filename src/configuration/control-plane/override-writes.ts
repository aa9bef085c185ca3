import { isDeepStrictEqual } from 'node:util';
import type { AuditDraft } from '../../schema/audit-event.ts';
import type { ConfigRecord } from '../../schema/config-record.ts';
import type { JsonObject } from '../../schema/endpoint.ts';
import { NotFound } from '../../schema/outcome.ts';
import { type Dropped, redact } from '../../schema/redaction/redact.ts';
import { asPayload, type OverrideRules } from '../namespaces/namespace.ts';
import type { Caller, ConfigService, OfSecrets } from './api.ts';
import { resolveSpec } from './content.ts';
import { missing } from './entries.ts';
import { refuseProblems } from './problems.ts';
import type { Candidate } from './publisher.ts';
import { nextRecord } from './records.ts';
import { guarded, type WriteDeps } from './writes.ts';

/**
 * Changes overrides (config.md 5). The record keeps its base and its source. Changes without an effect are not written.
 */

type Merge = (
  rules: OverrideRules,
  base: JsonObject,
  { stored, dropped }: { stored: JsonObject; dropped: Dropped },
) => JsonObject;

export const createOverrideWrites = ({
  namespaces,
  publisher,
  audit,
  clock,
  lock,
}: Omit<WriteDeps, 'fetch'>): ConfigService['overrides'] => {
  const open = (name: string, id: string) => {
    const namespace = namespaces.of(name);
    const { overrides: rules } = namespace;
    if (!rules) throw new NotFound(`${name} entries have no overrides`);
    const record = publisher.stored()[namespace.name].get(id);
    if (!record) throw missing(namespace.name, id);
    return { namespace, rules, record, stored: record.user_overrides ?? {} };
  };

  const checkEffects = (after: ConfigRecord): Candidate => {
    const { namespace, id } = after;
    const candidate = publisher.candidate([{ namespace, id, record: after }]);
    refuseProblems(publisher.current(), candidate, after);
    return candidate;
  };

  const changed = (
    { hidden, ...before }: ConfigRecord,
    written: { user_overrides: JsonObject; dropped_secrets?: ReadonlySet<string> },
    actor: string,
  ): ConfigRecord => {
    const { namespace, id, spec, source } = before;
    const now = clock.now();
    // Hidden entries are invisible to runs; their overrides are kept and apply again when the entry is restored.
    return { ...nextRecord(before, { namespace, id, spec, source, ...written, now, actor }), hidden };
  };

  const change = (name: string, id: string, merge: Merge, caller: Caller): Promise<ConfigRecord> =>
    lock(async () => {
      const { namespace, rules, record, stored } = open(name, id);
      const dropped_secrets = new Set<string>();
      const dropped: Dropped = (path) => dropped_secrets.add(path);
      const overrides = asPayload(() => merge(rules, record.spec, { stored, dropped }));
      if (isDeepStrictEqual(overrides, stored)) return record;
      const before = namespace.audit(resolveSpec(namespace, record));
      const draft: AuditDraft = { action: 'update', resource: `${namespace.name}/${id}`, before };
      return guarded(audit, draft, caller, async () => {
        const after = changed(record, { user_overrides: overrides, dropped_secrets }, caller.actor);
        const event = {
          ...draft,
          after: namespace.audit(resolveSpec(namespace, after)),
          overrides: redact(overrides),
        };
        await publisher.commit(checkEffects(after), [event], caller);
        return after;
      });
    });

  const effective = (name: string, record: ConfigRecord): JsonObject => {
    const namespace = namespaces.of(name);
    return namespace.redact(resolveSpec(namespace, record));
  };

  return {
    async preview(name, id, body, of = {}) {
      const { rules, record, stored } = open(name, id);
      const merge = merging(body, of);
      const user_overrides = asPayload(() => merge(rules, record.spec, { stored, dropped: () => {} }));
      checkEffects(changed(record, { user_overrides }, ''));
      return redact(user_overrides);
    },
    async patch(name, id, body, caller, of = {}) {
      return effective(name, await change(name, id, merging(body, of), caller));
    },
    async clear(name, id, caller) {
      return effective(name, await change(name, id, () => ({}), caller));
    },
    async clearField(name, id, field, caller) {
      const without: Merge = (rules, base, { stored }) => rules.without(base, stored, field);
      return effective(name, await change(name, id, without, caller));
    },
  };
};

const merging =
  (body: unknown, { dropsSecrets = false }: OfSecrets): Merge =>
  (rules, base, { stored, dropped }) =>
    rules.merge(base, stored, body, dropsSecrets ? dropped : undefined);
