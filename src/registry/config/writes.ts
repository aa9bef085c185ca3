import type { Clock } from '../../schema/clock.ts';
import type { ConfigNamespace, ConfigRecord } from '../../schema/config-record.ts';
import type { JsonObject } from '../../schema/endpoint.ts';
import { checkNewId } from '../../schema/id.ts';
import { Conflict, Outcome } from '../../schema/outcome.ts';
import { openEnvelope } from '../namespaces/envelope.ts';
import { asPayload, type Namespace } from '../namespaces/namespace.ts';
import { type Namespaces, refuseReadOnly } from '../namespaces/namespaces.ts';
import type { Caller, ConfigService } from './api.ts';
import type { AuditDraft, AuditLog } from './audit-log.ts';
import { effectiveOf } from './content.ts';
import type { Ahead, createFetch } from './fetch.ts';
import type { Lock } from './lock.ts';
import { refuseProblems } from './problems.ts';
import type { Fetched, Publisher } from './publisher.ts';
import { nextRecord, USER } from './records.ts';
import type { Change } from './stored.ts';

/**
 * POST, PUT and validate (config.md 2.5). A body is judged in the same order by all three: its envelope, whether the
 * id is free, its shape, whether it can be used, and what it means for the rest of the configuration. Nothing is
 * stored before it is known to be right, so nothing is ever taken back.
 */

export type WriteDeps = {
  namespaces: Namespaces;
  publisher: Publisher;
  audit: AuditLog;
  clock: Clock;
  lock: Lock;
  fetch: ReturnType<typeof createFetch>;
};

type Prepared = { id: string; before: ConfigRecord | undefined; spec: JsonObject };
type Target = { mode: 'create' } | { mode: 'replace'; id: string | undefined };

export const createWrites = (deps: WriteDeps): Pick<ConfigService, 'validate' | 'create' | 'replace'> => {
  const { namespaces, publisher, clock, lock, fetch } = deps;

  const writable = (name: string): Namespace => {
    const namespace = namespaces.of(name);
    refuseReadOnly(namespace);
    return namespace;
  };

  const prepare = (namespace: Namespace, body: unknown, target: Target): Prepared => {
    const { id, body: given } = openEnvelope(body, target.mode === 'replace' ? target.id : undefined);
    const before = publisher.stored()[namespace.name].get(id);
    if (before && target.mode === 'create') {
      throw new Conflict(`conflict: ${namespace.name}/${id} already exists`);
    }
    const spec = asPayload(() => {
      if (!before) checkNewId(namespace.name === 'agents' ? 'agent' : 'entry', "field 'id'", id);
      const checked = namespace.check(namespace.prepare(given, before && effectiveOf(namespace, before)));
      namespace.complete(checked);
      return checked;
    });
    return { id, before, spec };
  };

  const judge = (namespace: Namespace, record: ConfigRecord, fetched?: Fetched) => {
    asPayload(() => namespace.usable(record.spec));
    const candidate = publisher.candidate([changeOf(record)], fetched);
    refuseProblems(publisher.current(), candidate, record);
    return candidate;
  };

  const recordOf = (
    namespace: ConfigNamespace,
    { id, before, spec }: Prepared,
    actor: string,
  ): ConfigRecord => nextRecord(before, { namespace, id, spec, source: USER, now: clock.now(), actor });

  const save = async (
    namespace: Namespace,
    body: unknown,
    target: Target,
    caller: Caller,
  ): Promise<JsonObject> => {
    const first = prepare(namespace, body, target);
    const action = target.mode === 'create' ? 'create' : 'update';
    return guarded(deps.audit, draftOf(namespace, first, action), caller, async () => {
      // What cannot be used is not worth a connection.
      asPayload(() => namespace.usable(first.spec));
      const ahead = await fetch.ahead(namespace.name, first.spec, publisher.stored());
      return lock(async () => {
        const prepared = prepare(namespace, body, target);
        if (hasMoved(ahead, first, prepared)) throw modified(namespace.name, first, prepared);
        const record = recordOf(namespace.name, prepared, caller.actor);
        await publisher.commit(
          judge(namespace, record, ahead.fetched),
          [draftOf(namespace, prepared, action)],
          caller,
        );
        ahead.keep();
        return namespace.redact(record.spec);
      }).catch((error) => {
        ahead.discard();
        throw error;
      });
    });
  };

  return {
    async validate(name, body, id) {
      const namespace = writable(name);
      const target: Target = id === undefined ? { mode: 'create' } : { mode: 'replace', id };
      const prepared = prepare(namespace, body, target);
      judge(namespace, recordOf(namespace.name, prepared, ''));
      return namespace.redact(prepared.spec);
    },
    create: async (name, body, caller) => save(writable(name), body, { mode: 'create' }, caller),
    replace: async (name, id, body, caller) => save(writable(name), body, { mode: 'replace', id }, caller),
  };
};

const changeOf = (record: ConfigRecord): Change => ({
  namespace: record.namespace,
  id: record.id,
  record,
});

const draftOf = (
  { name, audit }: Namespace,
  { id, before, spec }: Prepared,
  action: AuditDraft['action'],
): AuditDraft => ({
  action,
  resource: `${name}/${id}`,
  ...(before && { before: audit(before.spec) }),
  after: audit(spec),
});

/**
 * Tells the audit log of a change that failed. What another writer came before is no failure of the change.
 */
export const guarded = async <Result>(
  audit: Pick<AuditLog, 'record'>,
  draft: AuditDraft,
  caller: Caller,
  change: () => Promise<Result>,
): Promise<Result> => {
  try {
    return await change();
  } catch (cause) {
    if (cause instanceof Conflict) throw cause;
    const message = cause instanceof Error ? cause.message : String(cause);
    const told = cause instanceof Outcome;
    const error = told ? message : `runtime apply failed: ${message}`;
    await audit.record({ ...draft, action: 'apply_failed', error }, caller);
    throw told ? cause : new Error(error, { cause });
  }
};

/** A connection belongs to the spec that it was made for. */
const hasMoved = ({ fetched }: Ahead, first: Prepared, now: Prepared): boolean =>
  fetched.connected !== undefined && first.before !== now.before;

const modified = (namespace: ConfigNamespace, first: Prepared, now: Prepared): Conflict =>
  new Conflict(
    `conflict: ${namespace}/${first.id} was modified by another writer (expected revision ${first.before?.revision ?? 0}, found ${now.before?.revision ?? 0}); retry the mutation`,
  );
