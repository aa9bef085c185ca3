import type { ConfigNamespace } from '../../schema/config-record.ts';
import type { Diagnostic } from '../diagnostics.ts';
import { invalidPayload } from '../namespaces/namespace.ts';
import type { Candidate } from './publisher.ts';
import type { Snapshot } from './snapshot.ts';

/**
 * Decides whether a change is allowed (config.md 3.1, 6.1). Every problem of the entry itself prevents it, and so does
 * every new problem elsewhere. Existing problems do not: they are reported for an operator to fix.
 */

export type Written = {
  namespace: ConfigNamespace;
  id: string;
  /** Whether the entry is hidden from runs. */
  hidden?: boolean;
};

/** @throws Invalid `invalid payload: invalid managed config: …` */
export const refuseProblems = (
  before: Snapshot,
  { snapshot: after, conflicts }: Pick<Candidate, 'snapshot' | 'conflicts'>,
  written: Written,
): void => {
  const problems = [
    ...referencesOf(before, after, written),
    ...sharedIdOf(after, written),
    ...conflicts.map((id) => `mcp tool id conflicts with existing tool: ${id}`),
    ...(written.namespace === 'agents' && !written.hidden ? [after.registry.faultOf(written.id) ?? []] : []),
  ].flat();
  const [first, ...others] = problems;
  if (first === undefined) return;
  const all = others.length === 0 ? first : `registry validation failed: ${problems.join('; ')}`;
  throw invalidPayload(`invalid managed config: ${all}`);
};

const referencesOf = (before: Snapshot, after: Snapshot, written: Written): string[] => {
  const known = new Set(before.registry.diagnostics().map(({ message }) => message));
  return withoutToolsOfAgents(
    after,
    after.registry
      .diagnostics()
      .filter(({ resource, message }) => isAbout(resource, written) || !known.has(message)),
  ).map(({ message }) => message);
};

const isAbout = (resource: Diagnostic['resource'], { namespace, id }: Written): boolean =>
  resource.namespace === namespace && resource.id === id;

/** A plugin may provide a tool for some agents only; these are compiled before a tool is reported as unknown. */
export const withoutToolsOfAgents = (
  { registry, records }: Snapshot,
  found: readonly Diagnostic[],
): Diagnostic[] =>
  found.filter(
    ({ code, depends_on: { id } }) =>
      code !== 'skill_missing_tool' || !records.agents.some((agent) => registry.hasTool(agent.id, id)),
  );

const sharedIdOf = ({ records }: Snapshot, { namespace, id }: Written): string[] => {
  const isShared = records.models.some(hasId(id)) && records.model_pools.some(hasId(id));
  if (!isShared) return [];
  if (namespace === 'models') return [`model registry conflict: model '${id}' already registered as a pool`];
  return namespace === 'model-pools'
    ? [`model registry conflict: pool '${id}' already registered as a model`]
    : [];
};

const hasId =
  (wanted: string) =>
  ({ id }: { id: string }): boolean =>
    id === wanted;
