import type { AnyStateNode, AnyTransitionDefinition, UnknownAction } from 'xstate';

/** Readable names for parts of a machine that XState names itself, or that have no name. */

const LONGEST = 60;

/** Build tools drop or add spaces; a picture must not depend on the tool. */
const OPERATOR = /\s*(=>|[!=]==?|[<>]=?|&&|\|\|)\s*/g;
const SPOKEN: Record<string, string> = {
  '==': '=',
  '===': '=',
  '!=': '≠',
  '!==': '≠',
  '>=': '≥',
  '<=': '≤',
  '&&': 'and',
  '||': 'or',
};

/**
 * Paths separate names by dots, and lists of paths use spaces, so a name containing them gets look-alike characters.
 */
export const nameInPath = (name: string): string =>
  name.replaceAll('.', '\u2024').replaceAll(/\s/g, '\u00a0');

/** 'inferring' inside 'running' is `running.inferring`; the machine itself is null. */
export const pathOf = (node: AnyStateNode): string | null =>
  node.path.length ? node.path.map(nameInPath).join('.') : null;

/** Returns the body of an arrow function, or the function's name if it has no expression body. */
const textOf = (fn: { name: string; toString(): string }): string => {
  const body = fn.toString().match(/=>\s*([^{\s].*)$/s)?.[1];
  if (body === undefined) return fn.name || 'inline';
  const readable = body
    .replace(/\b(event|context)\./g, '')
    .replace(/["'`]/g, '')
    .replace(OPERATOR, (_, operator: string) => ` ${SPOKEN[operator] ?? operator} `)
    .replace(/\s+/g, ' ')
    .trim();
  return readable.length > LONGEST ? `${readable.slice(0, LONGEST - 1)}…` : readable;
};

const typeOf = (named: object): string =>
  'type' in named && typeof named.type === 'string' && named.type !== '' ? named.type : 'inline';

/** Inline actions such as `xstate.assign` lose their prefix, which carries no information. */
export const actionName = (action: UnknownAction | string): string => {
  if (typeof action === 'string') return action;
  const name = typeOf(action);
  if (name !== 'inline') return name.replace(/^xstate\./, '');
  return typeof action === 'function' ? action.name || name : name;
};

export const guardName = (guard: AnyTransitionDefinition['guard'] | string): string | null => {
  if (guard === undefined) return null;
  if (typeof guard === 'string') return guard;
  return typeof guard === 'function' ? textOf(guard) : typeOf(guard);
};

const delayName = (delay: unknown): string =>
  typeof delay === 'number' ? `${delay} ms` : typeof delay === 'string' ? delay : 'delay';

/** Returns readable names for the events that XState generates for a state: ends of services, delays, completion. */
export const eventNames = (node: AnyStateNode): ReadonlyMap<string, string> =>
  new Map([
    [`xstate.done.state.${node.id}`, 'done'],
    ...node.invoke.flatMap((invoked): [string, string][] => [
      [`xstate.done.actor.${invoked.id}`, `done.${invoked.src}`],
      [`xstate.error.actor.${invoked.id}`, `error.${invoked.src}`],
      [`xstate.snapshot.${invoked.id}`, `snapshot.${invoked.src}`],
    ]),
    ...node.after.map((delayed): [string, string] => [
      delayed.eventType,
      `after ${delayName(delayed.delay)}`,
    ]),
  ]);
