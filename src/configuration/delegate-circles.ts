import type { AgentSpec } from '../schema/agent.ts';

/**
 * Detects agents that delegate to each other in a circle. A run of one can start runs indefinitely, until the limit of
 * nested runs stops it.
 * Cost: one pass over the agents and their delegates.
 */

export type CircleWarning = {
  code: 'agent_delegate_circle';
  severity: 'warning';
  resource: { namespace: 'agents'; id: string };
  depends_on: { namespace: 'agents'; id: string };
  message: string;
};

type Delegating = Pick<AgentSpec, 'id' | 'delegates'>;

/** Returns one warning per circle that the search finds; every agent of a circle is in one of them. */
export function delegateCircles(agents: readonly Delegating[]): CircleWarning[] {
  const found = new Map<string, CircleWarning>();
  for (const circle of circlesIn(new Map(agents.map(({ id, delegates }) => [id, delegates])))) {
    const warning = warningOf(fromSmallest(circle));
    found.set(warning.message, warning);
  }
  return [...found.values()];
}

type Visit = { id: string; unvisited: string[] };

/** Searches depth first, without recursion: an edge to an agent of the current path closes a circle. */
function* circlesIn(delegatesOf: ReadonlyMap<string, readonly string[]>): Iterable<string[]> {
  const seen = new Set<string>();
  for (const start of delegatesOf.keys()) {
    if (!seen.has(start)) yield* circlesFrom(start, delegatesOf, seen);
  }
}

function* circlesFrom(
  start: string,
  delegatesOf: ReadonlyMap<string, readonly string[]>,
  seen: Set<string>,
): Iterable<string[]> {
  const visit = (id: string): Visit => {
    seen.add(id);
    return { id, unvisited: [...new Set(delegatesOf.get(id))] };
  };
  const path = [visit(start)];
  for (let top = path.at(-1); top; top = path.at(-1)) {
    const next = top.unvisited.pop();
    if (next === undefined) path.pop();
    else if (!seen.has(next)) path.push(visit(next));
    else yield* circlesAt(path, next);
  }
}

function* circlesAt(path: readonly Visit[], next: string): Iterable<string[]> {
  const at = path.findIndex(({ id }) => id === next);
  if (at >= 0) yield path.slice(at).map(({ id }) => id);
}

/** Rotates a circle to its smallest agent, so that it is the same for every entry point of the search. */
function fromSmallest(circle: readonly string[]): string[] {
  const [smallest = ''] = [...circle].sort();
  const at = circle.indexOf(smallest);
  return [...circle.slice(at), ...circle.slice(0, at)];
}

const SHOWN = 10;

function warningOf(circle: readonly string[]): CircleWarning {
  const [first = '', second = first] = circle;
  const shown = circle.length > SHOWN ? [...circle.slice(0, SHOWN), '…'] : circle;
  const path = [...shown, first].map((id) => (id === '…' ? id : `'${id}'`)).join(' → ');
  return {
    code: 'agent_delegate_circle',
    severity: 'warning',
    resource: { namespace: 'agents', id: first },
    depends_on: { namespace: 'agents', id: second },
    message: `agents delegate in a circle: ${path}`,
  };
}
