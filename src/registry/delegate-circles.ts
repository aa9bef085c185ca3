import type { AgentSpec } from '../schema/agent.ts';

/**
 * Agents that delegate to each other in a circle. A run of one can start runs without an end of its own, so that only
 * the bounds on runs below a run stop it. Costs one pass over the agents and their delegates.
 */

export type CircleWarning = {
  code: 'agent_delegate_circle';
  severity: 'warning';
  resource: { namespace: 'agents'; id: string };
  depends_on: { namespace: 'agents'; id: string };
  message: string;
};

type Delegating = Pick<AgentSpec, 'id' | 'delegates'>;

/** One for each circle that the search meets; every agent of a circle is in one of them. */
export function delegateCircles(agents: readonly Delegating[]): CircleWarning[] {
  const found = new Map<string, CircleWarning>();
  for (const circle of circlesIn(new Map(agents.map(({ id, delegates }) => [id, delegates])))) {
    const warning = warningOf(fromSmallest(circle));
    found.set(warning.message, warning);
  }
  return [...found.values()];
}

type Visit = { id: string; left: string[] };

/** Depth first, without recursion: an edge to an agent of the path under way closes a circle. */
function* circlesIn(delegatesOf: ReadonlyMap<string, readonly string[]>): Iterable<string[]> {
  const seen = new Set<string>();
  const visit = (id: string): Visit => {
    seen.add(id);
    return { id, left: [...new Set(delegatesOf.get(id))] };
  };
  for (const start of delegatesOf.keys()) {
    const path = seen.has(start) ? [] : [visit(start)];
    for (let top = path.at(-1); top; top = path.at(-1)) {
      const next = top.left.pop();
      if (next === undefined) path.pop();
      else if (!seen.has(next)) path.push(visit(next));
      else {
        const at = path.findIndex(({ id }) => id === next);
        if (at >= 0) yield path.slice(at).map(({ id }) => id);
      }
    }
  }
}

/** The same circle begins at the same agent, wherever the search has entered it. */
function fromSmallest(circle: readonly string[]): string[] {
  const [smallest = ''] = [...circle].sort();
  const at = circle.indexOf(smallest);
  return [...circle.slice(at), ...circle.slice(0, at)];
}

const SHOWN = 10;

function warningOf(circle: readonly string[]): CircleWarning {
  const [first = '', second = first] = circle;
  const shown = circle.length > SHOWN ? [...circle.slice(0, SHOWN), '…'] : circle;
  const way = [...shown, first].map((id) => (id === '…' ? id : `'${id}'`)).join(' → ');
  return {
    code: 'agent_delegate_circle',
    severity: 'warning',
    resource: { namespace: 'agents', id: first },
    depends_on: { namespace: 'agents', id: second },
    message: `agents delegate in a circle: ${way}`,
  };
}
