import { isDeepStrictEqual } from 'node:util';
import type { AuditDraft } from '../../schema/audit-event.ts';
import type { Clock } from '../../schema/clock.ts';
import type { ConfigNamespace, ConfigRecord } from '../../schema/config-record.ts';
import { isObject, type JsonObject } from '../../schema/endpoint.ts';
import { checkNewId } from '../../schema/id.ts';
import type { Accept } from '../../schema/idempotency.ts';
import type { Lock } from '../../schema/lock.ts';
import { Conflict, Outcome } from '../../schema/outcome.ts';
import { openEnvelope } from '../namespaces/envelope.ts';
import { asPayload, type Namespace } from '../namespaces/namespace.ts';
import { type Namespaces, refuseReadOnly } from '../namespaces/namespaces.ts';
import type { Caller, ConfigService, OfSecrets } from './api.ts';
import type { AuditLog } from './audit-log.ts';
import { resolveSpec } from './content.ts';
import type { createFetch, Prefetch } from './fetch.ts';
import { refuseProblems } from './problems.ts';
import type { Candidate, Publisher } from './publisher.ts';
import { nextRecord, USER } from './records.ts';
import type { Fetched } from './settlement.ts';
import type { Change } from './stored.ts';

/**
 * Implements POST, PUT and validate (config.md 2.5). All three check a body in the same order: its envelope, the
 * availability of the id, its shape, its usability, and its effects on the rest of the configuration. Nothing is stored
 * before all checks have passed, so nothing is ever rolled back.
 */

export type WriteDeps = {
  namespaces: Namespaces;
  publisher: Publisher;
  audit: AuditLog;
  clock: Clock;
  lock: Lock;
  fetch: ReturnType<typeof createFetch>;
};

export type Prepared = {
  id: string;
  before: ConfigRecord | undefined;
  spec: JsonObject;
  dropped_secrets: ReadonlySet<string>;
};
type Target = { mode: 'create' } | ({ mode: 'replace'; id: string | undefined } & OfSecrets);

export const createWrites = (deps: WriteDeps): Pick<ConfigService, 'validate' | 'create' | 'replace'> => {
  const writable = (name: string): Namespace => {
    const namespace = deps.namespaces.of(name);
    refuseReadOnly(namespace);
    return namespace;
  };
  return {
    async validate(name, body, id, of = {}) {
      const namespace = writable(name);
      const target: Target = id === undefined ? { mode: 'create' } : { mode: 'replace', id, ...of };
      const prepared = prepare(deps, namespace, body, target);
      checkEffects(deps, namespace, createRecord(deps, namespace, prepared, ''));
      return namespace.redact(prepared.spec);
    },
    create: async (name, body, caller, keyed) =>
      save(deps, writable(name), { body, target: { mode: 'create' }, caller, keyed }),
    replace: async (name, id, body, caller, of = {}) =>
      save(deps, writable(name), { body, target: { mode: 'replace', id, ...of }, caller }),
  };
};

/** @param stored the spec that the body replaces; by default the effective one of the record */
export const prepare = (
  { publisher }: Pick<WriteDeps, 'publisher'>,
  namespace: Namespace,
  body: unknown,
  target: Target,
  stored?: JsonObject,
): Prepared => {
  const { id, body: given } = openEnvelope(body, target.mode === 'replace' ? target.id : undefined);
  const before = publisher.stored()[namespace.name].get(id);
  if (before && target.mode === 'create') {
    throw new Conflict(`conflict: ${namespace.name}/${id} already exists`);
  }
  const dropped_secrets = new Set<string>();
  const isDropping = before !== undefined && target.mode === 'replace' && target.dropsSecrets === true;
  const dropped = isDropping ? (path: string) => dropped_secrets.add(path) : undefined;
  const spec = asPayload(() => {
    if (!before) checkNewId(namespace.name === 'agents' ? 'agent' : 'entry', "field 'id'", id);
    const checked = namespace.check(
      namespace.prepare(given, stored ?? (before && resolveSpec(namespace, before)), dropped),
    );
    namespace.complete(checked);
    return checked;
  });
  for (const path of before?.dropped_secrets ?? []) {
    // A repeated import still lacks the secrets that an earlier one dropped.
    const isLacking = isDropping && valueAt(spec, path) === undefined;
    if (isLacking || isSame(before, spec)) dropped_secrets.add(path);
  }
  return { id, before, spec, dropped_secrets };
};

/** A restored entry may be written unchanged, to publish it. */
const isSame = (before: ConfigRecord | undefined, spec: JsonObject): boolean =>
  before !== undefined && before.user_overrides === undefined && isDeepStrictEqual(before.spec, spec);

const valueAt = (spec: JsonObject, path: string): unknown =>
  path.split('.').reduce<unknown>((value, key) => (isObject(value) ? value[key] : undefined), spec);

/** Returns the configuration with the record. @throws Invalid if the record adds a problem to it */
export const checkEffects = (
  { publisher }: Pick<WriteDeps, 'publisher'>,
  namespace: Namespace,
  record: ConfigRecord,
  fetched?: Fetched,
): Candidate => {
  asPayload(() => namespace.usable(record.spec, record.dropped_secrets));
  const candidate = publisher.candidate([changeOf(record)], fetched);
  refuseProblems(publisher.current(), candidate, record);
  return candidate;
};

export const createRecord = (
  { clock }: Pick<WriteDeps, 'clock'>,
  { name: namespace }: Namespace,
  { id, before, spec, dropped_secrets }: Prepared,
  actor: string,
): ConfigRecord =>
  nextRecord(before, { namespace, id, spec, source: USER, dropped_secrets, now: clock.now(), actor });

type Save = { body: unknown; target: Target; caller: Caller; keyed?: Accept<JsonObject> | undefined };

const save = async (
  deps: WriteDeps,
  namespace: Namespace,
  { body, target, caller, keyed }: Save,
): Promise<JsonObject> => {
  const { publisher, fetch, lock } = deps;
  const first = prepare(deps, namespace, body, target);
  const action = target.mode === 'create' ? 'create' : 'update';
  return guarded(deps.audit, draftOf(namespace, first, action), caller, async () => {
    // An unusable entry is rejected before a connection is opened.
    asPayload(() => namespace.usable(first.spec, [...first.dropped_secrets]));
    const prefetch = await fetch.prefetch(namespace.name, first.spec, publisher.stored());
    return lock(async () => {
      const prepared = prepare(deps, namespace, body, target);
      if (hasMoved(prefetch, first, prepared)) throw modified(namespace.name, first, prepared);
      const record = createRecord(deps, namespace, prepared, caller.actor);
      const candidate = checkEffects(deps, namespace, record, prefetch.fetched);
      const saved = namespace.redact(record.spec);
      await publisher.commit(candidate, [draftOf(namespace, prepared, action)], caller, {
        keyed: keyed?.(saved),
      });
      prefetch.keep();
      return saved;
    }).catch((error) => {
      prefetch.discard();
      throw error;
    });
  });
};

const changeOf = (record: ConfigRecord): Change => ({
  namespace: record.namespace,
  id: record.id,
  record,
});

export const draftOf = (
  { name, audit }: Namespace,
  { id, before, spec }: Prepared,
  action: AuditDraft['action'],
): AuditDraft => ({
  action,
  resource: `${name}/${id}`,
  ...(before && { before: audit(before.spec) }),
  after: audit(spec),
});

/** Records a failed change in the audit log. A conflict with another writer does not count as a failure. */
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
    const isOutcome = cause instanceof Outcome;
    const error = isOutcome ? message : `runtime apply failed: ${message}`;
    await audit.record({ ...draft, action: 'apply_failed', error }, caller);
    throw isOutcome ? cause : new Error(error, { cause });
  }
};

/** A connection is valid only for the spec that it was opened for. */
const hasMoved = ({ fetched }: Prefetch, first: Prepared, now: Prepared): boolean =>
  fetched.connected !== undefined && first.before !== now.before;

const modified = (namespace: ConfigNamespace, first: Prepared, now: Prepared): Conflict =>
  new Conflict(
    `conflict: ${namespace}/${first.id} was modified by another writer (expected revision ${first.before?.revision ?? 0}, found ${now.before?.revision ?? 0}); retry the mutation`,
  );
