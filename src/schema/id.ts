import { Invalid } from './outcome.ts';

/**
 * Rules for ids chosen by clients. An id is a path segment, so an unreachable one could never be read or deleted: HTTP
 * clients resolve `.` and `..`, blanks at the ends are trimmed in transit, and `meta` is another route. The rules apply
 * to new ids only; stored ones stay readable and deletable.
 */

export const MAX_ID_BYTES = 512;

/** Segments of other routes in the position of the id. */
const ROUTES = {
  thread: ['summaries'],
  run: ['summary'],
  entry: ['meta', 'validate', '$schema'],
  agent: ['meta', 'validate', '$schema', 'runtime-stats'],
  dataset: [],
  'push config': [],
} as const satisfies Record<string, readonly string[]>;

export type IdKind = keyof typeof ROUTES;

/** Entries of the configuration may have slashes in their ids: `team/helper` is an agent. */
const TAKES_SLASHES: ReadonlySet<IdKind> = new Set(['entry', 'agent', 'push config']);

const UNSTORABLE = /[\p{Cc}\p{Cs}]/u;
const SLASHES = /[\\/]|\.\./u;

/** Returns the problem of a new id, as text that follows its field name. */
export function newIdProblem(kind: IdKind, id: string): string | undefined {
  if (id.trim() === '') return 'must not be blank';
  if (id !== id.trim()) return 'must not begin or end with blanks';
  if (UNSTORABLE.test(id)) return 'must not contain control characters or half surrogate pairs';
  if (id === '.' || id === '..') return `must not be '.' or '..': no address reaches it`;
  if (!TAKES_SLASHES.has(kind) && SLASHES.test(id)) return `must not contain '/', '\\' or '..'`;
  const routes: readonly string[] = ROUTES[kind];
  if (routes.includes(id))
    return `must not be '${id}': that is another route (${routes.join(', ')} are taken)`;
  if (Buffer.byteLength(id) > MAX_ID_BYTES) return `must have at most ${MAX_ID_BYTES} bytes`;
  return undefined;
}

/** @throws Invalid */
export function checkNewId(kind: IdKind, name: string, id: string): string {
  const problem = newIdProblem(kind, id);
  if (problem !== undefined) throw new Invalid(`${name} ${problem} (got ${JSON.stringify(shownId(id))})`);
  return id;
}

const SHOWN = 80;

function shownId(id: string): string {
  return id.length <= SHOWN ? id : `${id.slice(0, SHOWN)}…`;
}
