import type { AnyStateNode, AnyTransitionDefinition, UnknownAction } from 'xstate';

/** What a person calls the parts of a machine that XState names for itself, or that have no name. */

const LONGEST = 60;

/** Tools that build the code drop or add spaces; a picture must not depend on which tool did. */
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

/** Dots stand between the names of a path, and spaces between paths: a name that has some gets what looks like them. */
export const nameInPath = (name: string): string =>
  name.replaceAll('.', '\u2024').replaceAll(/\s/g, '\u00a0');

/** 'inferring' inside 'running' is `running.inferring`; the machine itself is null. */
export const pathOf = (node: AnyStateNode): string | null =>
  node.path.length ? node.path.map(nameInPath).join('.') : null;

/** The text of an arrow function's body, or the function's name where it has no such body. */
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

/** `xstate.assign` and its kind are written in place: the prefix tells a reader nothing. */
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

/** How the events that XState makes for a state read: its services' ends, its delays, its own completion. */
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
