import { isDeepStrictEqual } from 'node:util';
import { isObject, type JsonObject } from '../../schema/endpoint.ts';
import { Conflict, Invalid, NotFound } from '../../schema/outcome.ts';
import {
  type Bundle,
  type BundleEntry,
  type BundleNamespace,
  NAMESPACES,
  OVERRIDDEN,
  type OverriddenNamespace,
} from './bundle.ts';
import { remainingProblems } from './missing.ts';
import { bringsSecrets, withKeptSecrets } from './redacted.ts';
import type { Described, RemoteService } from './service.ts';

/**
 * Plans an import and collects the objections of the service. Nothing is changed: every entry is validated by the
 * service, and references to entries of the document itself are not counted as problems.
 */

export type EntryStep =
  | { action: 'create' | 'update'; namespace: BundleNamespace; id: string; body: BundleEntry }
  | { action: 'unchanged' | 'delete'; namespace: BundleNamespace; id: string };

export type OverrideStep =
  | { action: 'override'; namespace: OverriddenNamespace; id: string; body: JsonObject; stale: string[] }
  | { action: 'unchanged' | 'reset'; namespace: OverriddenNamespace; id: string };

export type Plan = { entries: EntryStep[]; overrides: OverrideStep[]; problems: string[] };

export const planImport = async (
  service: RemoteService,
  bundle: Bundle,
  { prune }: { prune: boolean },
): Promise<Plan> => {
  const plan: Plan = { entries: [], overrides: [], problems: [] };
  for (const namespace of NAMESPACES) {
    const entries = bundle[namespace];
    if (entries) await planNamespace(service, { bundle, plan, prune }, namespace, entries);
  }
  for (const namespace of OVERRIDDEN) {
    const wanted = bundle.overrides?.[namespace];
    if (wanted) await planOverrides(service, { bundle, plan, prune }, namespace, wanted);
  }
  return plan;
};

/** One line per entry, in the order of the writes. */
export const renderPlan = ({ entries, overrides }: Plan): string[] => [
  ...entries.map(({ action, namespace, id }) => `${action.padEnd(9)} ${namespace}/${id}`),
  ...overrides.map(({ action, namespace, id }) => `${action.padEnd(9)} ${namespace}/${id} (overrides)`),
];

type Planning = { bundle: Bundle; plan: Plan; prune: boolean };

const planNamespace = async (
  service: RemoteService,
  { bundle, plan, prune }: Planning,
  namespace: BundleNamespace,
  entries: readonly BundleEntry[],
): Promise<void> => {
  const live = new Map((await service.list(namespace)).map((entry) => [entry.id, entry]));
  for (const entry of entries) {
    const { id } = entry;
    const shown = live.get(id);
    const body: BundleEntry = shown ? { ...withKeptSecrets(entry, shown), id } : entry;
    const validated = await tried(plan, bundle, `${namespace}/${id}`, () =>
      service.validate(namespace, body, shown && id),
    );
    if (!shown) plan.entries.push({ action: 'create', namespace, id, body });
    else if (isDeepStrictEqual(validated, shown) && !bringsSecrets(namespace, entry)) {
      plan.entries.push({ action: 'unchanged', namespace, id });
    } else plan.entries.push({ action: 'update', namespace, id, body });
  }
  if (!prune) return;
  const about = await service.describe(namespace);
  const kept = new Set(entries.map(({ id }) => id));
  for (const id of live.keys()) {
    if (!kept.has(id) && about.get(id)?.builtin === false) {
      plan.entries.push({ action: 'delete', namespace, id });
    }
  }
};

const planOverrides = async (
  service: RemoteService,
  { bundle, plan, prune }: Planning,
  namespace: OverriddenNamespace,
  wanted: Readonly<Record<string, JsonObject>>,
): Promise<void> => {
  const about = await service.describe(namespace);
  for (const [id, fields] of Object.entries(wanted)) {
    const place = `${namespace}/${id}`;
    const live = about.get(id);
    if (!live) plan.problems.push(`${place}: there is nothing to override`);
    else
      plan.overrides.push(
        await overrideStep(service, { bundle, plan, prune }, { namespace, id }, fields, live),
      );
  }
  if (!prune) return;
  for (const [id, { builtin, overrides }] of about) {
    if (builtin && Object.keys(overrides).length > 0 && !Object.hasOwn(wanted, id)) {
      plan.overrides.push({ action: 'reset', namespace, id });
    }
  }
};

const overrideStep = async (
  service: RemoteService,
  { bundle, plan }: Planning,
  place: { namespace: OverriddenNamespace; id: string },
  fields: JsonObject,
  live: Described,
): Promise<OverrideStep> => {
  const { namespace, id } = place;
  const body = withKeptSecrets(fields, live.overrides);
  const isEmpty = Object.keys(body).length === 0;
  if (isDeepStrictEqual(body, live.overrides) && !bringsSecrets(namespace, fields)) {
    return { action: 'unchanged', ...place };
  }
  if (isEmpty) return { action: 'reset', ...place };
  if (namespace === 'agents') {
    await tried(plan, bundle, `agents/${id}`, () => service.previewOverrides(id, body));
  }
  return { action: 'override', ...place, body, stale: staleFields(body, live.overrides) };
};

/** An override only adds fields, so fields that the document no longer contains are cleared first. */
const staleFields = (wanted: JsonObject, live: JsonObject): string[] =>
  Object.keys(live).filter(
    (field) => wanted[field] === undefined || (field === 'sections' && !covers(wanted[field], live[field])),
  );

const covers = (wanted: unknown, live: unknown): boolean =>
  isObject(live) && isObject(wanted) && Object.keys(live).every((key) => Object.hasOwn(wanted, key));

const tried = async <Result>(
  plan: Plan,
  bundle: Bundle,
  place: string,
  ask: () => Promise<Result>,
): Promise<Result | undefined> => {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof Invalid || error instanceof Conflict || error instanceof NotFound)) throw error;
    plan.problems.push(...remainingProblems(error.message, bundle).map((problem) => `${place}: ${problem}`));
    return undefined;
  }
};
