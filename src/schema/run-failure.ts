import type { Termination } from './run.ts';

/** How protocols report an ending that is an error for their clients: a failure, or an exceeded budget. */
export const failureOf = (termination: Termination): { message: string; code?: string } | undefined => {
  if (termination.type === 'error') return { message: termination.value };
  if (termination.type !== 'stopped' || termination.value.code !== 'budget') return undefined;
  return { message: `budget '${termination.value.detail ?? ''}' is exceeded`, code: 'budget_exceeded' };
};
