import { createSkillSource } from '../../plugins/skills/source.ts';
import type { Clock } from '../../schema/clock.ts';
import type { ServiceLog } from '../../schema/log-events.ts';
import { Invalid } from '../../schema/outcome.ts';
import type { Diagnostic } from '../diagnostics.ts';
import { createNamespaces } from '../namespaces/namespaces.ts';
import type { Assembly } from './assembly.ts';
import { createContentReader } from './content.ts';
import type { Start } from './publisher.ts';
import { type ProgramEntries, seedEntries } from './seed-entries.ts';
import { planSeed, SEED_ACTOR, type Seed } from './seeding.ts';
import type { A2aServers } from './servers.ts';
import { createSnapshot, type Snapshot, type SnapshotDeps, toolsOfPlugin } from './snapshot.ts';
import { type Change, NOTHING_STORED, type Stored, withChanges } from './stored.ts';

/**
 * Applies the content of the program at a start, and decides whether the service may start with it. Invalid content of
 * the program fails the start. Problems from entries that were stored or deleted through the API never do: the
 * diagnostics report them, and so do the runs that need the entries.
 */

type StartDeps = {
  program: ProgramEntries & { version: string; seeds: boolean };
  clock: Clock;
  snapshots: SnapshotDeps;
  assembly: Assembly;
  a2a?: Pick<A2aServers, 'own'> | undefined;
  log: Pick<ServiceLog, 'warn'>;
};

const CALLER = { actor: SEED_ACTOR, request_id: null };

export const createStart =
  (deps: StartDeps) =>
  (stored: Stored): Start => {
    const { program, clock } = deps;
    if (!program.seeds) return { changes: [], events: [], caller: CALLER, check() {} };
    const seed: Seed = { version: program.version, entries: seedEntries(program, isToolIn(deps)) };
    const { changes, events } = planSeed(stored, seed, clock.now());
    const check = (snapshot: Snapshot): void => {
      const servers = new Set([
        ...withChanges(stored, changes)['a2a-servers'].keys(),
        ...(deps.a2a?.own ?? []),
      ]);
      const here = new Set(problemsWith(snapshot, { seed, changes, servers }));
      if (here.size === 0) return;
      const problems = problemsAlone(deps, seed).filter((problem) => here.has(problem));
      if (problems.length > 0) throw new Invalid(problems.join('\n'));
    };
    return { changes, events, caller: CALLER, check };
  };

const isToolIn = (deps: StartDeps): ((id: string) => boolean) => {
  let ids: ReadonlySet<string> | undefined;
  return (id) => {
    ids ??= toolIdsOf(deps);
    return ids.has(id);
  };
};

const toolIdsOf = ({ program, snapshots }: StartDeps): ReadonlySet<string> => {
  const nothing = createSkillSource(() => ({ skills: [], broken: [] }));
  return new Set([
    ...program.tools.map(({ descriptor }) => descriptor.id),
    ...snapshots.plugins(nothing).flatMap((plugin) => toolsOfPlugin(plugin).map(({ id }) => id)),
  ]);
};

/** Returns the problems of the program's entries without any other entries. */
const problemsAlone = (deps: StartDeps, seed: Seed): readonly string[] => {
  const read = createContentReader({ namespaces: createNamespaces(), log: deps.log });
  const content = read(withChanges(NOTHING_STORED, planSeed(NOTHING_STORED, seed, 0).changes), 'stored');
  const { parts } = deps.assembly.assemble(content);
  const snapshot = createSnapshot(deps.snapshots, {
    resolution_id: '',
    parts,
    mcpServers: [],
    budgets: [],
    discovered: undefined,
    versionOf: () => undefined,
    previous: undefined,
  });
  return snapshot.registry.problems();
};

/**
 * Returns the problems of the program's entries among all others. Excluded are unchanged entries whose dependencies
 * were removed since an earlier start, and missing agents of A2A servers, whose cards are fetched later.
 */
const problemsWith = (
  { registry }: Snapshot,
  { seed, changes, servers }: { seed: Seed; changes: readonly Change[]; servers: ReadonlySet<string> },
): string[] => {
  const seeded = new Set(seed.entries.map(({ namespace, id }) => `${namespace}/${id}`));
  const changed = new Set(changes.map(({ namespace, id }) => `${namespace}/${id}`));
  const mayCome = ({ namespace, id }: Diagnostic['depends_on']): boolean =>
    namespace === 'agents' && servers.has(id.slice(0, Math.max(0, id.indexOf('/'))));
  const isExcused = ({ resource, depends_on }: Diagnostic): boolean =>
    mayCome(depends_on) ||
    (depends_on.namespace !== 'plugins' && !changed.has(`${resource.namespace}/${resource.id}`));
  const excused = new Set(
    registry
      .diagnostics()
      .filter(isExcused)
      .map(({ message }) => message),
  );
  return registry
    .problems((namespace, id) => seeded.has(`${namespace}/${id}`))
    .filter((problem) => !excused.has(problem));
};
