/** The next step after a run that ended early, by its error. */

export type Advice = {
  text: 'key' | 'model' | 'provider' | 'context' | 'request' | 'content' | 'limit' | 'blocked' | 'other';
  screen: 'providers' | 'models' | 'agent' | 'diagnostics';
};

/** Errors of inferences begin with their class. */
const ERRORS: readonly (readonly [pattern: RegExp, advice: Advice])[] = [
  [/^inference failed: unauthorized/, { text: 'key', screen: 'providers' }],
  [/^inference failed: model not found/, { text: 'model', screen: 'models' }],
  [/^inference failed: context overflow/, { text: 'context', screen: 'agent' }],
  [/^inference failed: content filtered/, { text: 'content', screen: 'agent' }],
  [/^inference failed: invalid request/, { text: 'request', screen: 'agent' }],
  [/^inference failed/, { text: 'provider', screen: 'providers' }],
];

export const adviceFor = (end: string, error: string): Advice => {
  if (end === 'stopped') return { text: 'limit', screen: 'agent' };
  if (end === 'blocked') return { text: 'blocked', screen: 'agent' };
  const [, advice] = ERRORS.find(([pattern]) => pattern.test(error)) ?? [];
  return advice ?? { text: 'other', screen: 'diagnostics' };
};
