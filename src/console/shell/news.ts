import { list, number, object, optional, text } from '../data/guard.ts';
import { undecidedIn, type Waiting } from '../run-records/waiting.ts';
import type { News } from './notifications.ts';

/** Notifications from the differences between two reads of a resource. */

export const AuditLines = object({ items: list(object({ id: text, actor: text, resource: text })) });
type AuditLines = ReturnType<typeof AuditLines>;

export const Actors = object({ items: list(object({ id: text, state: text })) });
type Actors = ReturnType<typeof Actors>;

export const EvalRuns = object({
  runs: list(
    object({
      id: text,
      dataset_id: text,
      ended_at_secs: optional(number),
      item_count: number,
      passed_count: number,
    }),
  ),
});
type EvalRuns = ReturnType<typeof EvalRuns>;

export const waitingNews = (before: Waiting, now: Waiting): News[] => {
  const count = undecidedIn(now);
  return count > undecidedIn(before)
    ? [{ kind: 'waiting', text: 'bell.waiting', values: { count }, href: '/inbox' }]
    : [];
};

/** Changes by other operators. @param own the hash of this user's token, as the actor of the log */
export const changeNews = (before: AuditLines, now: AuditLines, own: string | undefined): News[] =>
  now.items
    .filter(({ id, actor }) => id > (before.items[0]?.id ?? '') && !(own && actor.startsWith(own)))
    .reverse()
    .map(({ actor, resource }) => ({
      kind: 'config',
      text: 'bell.changed',
      values: { actor: actor.split('/')[1] ?? actor.slice(0, 8), resource },
      href: `/audit-log?resource=${encodeURIComponent(resource)}`,
    }));

/** Connections to MCP servers that were abandoned, or have recovered from it. */
export const mcpNews = (before: Actors, now: Actors): News[] => {
  const earlier = new Map(before.items.map(({ id, state }) => [id, state]));
  return now.items.flatMap(({ id, state }): News[] => {
    const hasGivenUp = state === 'givenUp' && earlier.get(id) !== state;
    const isBack = earlier.get(id) === 'givenUp' && state.startsWith('ready');
    if (!hasGivenUp && !isBack) return [];
    const server = id.slice(id.indexOf(':') + 1);
    const href = `/mcp-servers/${encodeURIComponent(server)}`;
    return [{ kind: 'mcp', text: hasGivenUp ? 'bell.gaveUp' : 'bell.recovered', values: { server }, href }];
  });
};

export const evalNews = (before: EvalRuns, now: EvalRuns): News[] => {
  const known = new Set(before.runs.filter(({ ended_at_secs: end }) => end).map(({ id }) => id));
  return now.runs
    .filter(({ id, ended_at_secs: end }) => end !== undefined && !known.has(id))
    .reverse()
    .map(({ id, dataset_id: dataset, passed_count: passed, item_count: of }) => ({
      kind: 'eval',
      text: passed < of ? 'bell.evalFailed' : 'bell.evalPassed',
      values: { dataset, passed, of },
      href: `/eval-runs/${encodeURIComponent(id)}`,
    }));
};
