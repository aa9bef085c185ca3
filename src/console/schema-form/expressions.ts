import { createAtom } from '@xstate/store';
import type { RE2JS } from 're2js';
import { Invalid } from '../../schema/outcome.ts';
import type { compileExpression } from '../../schema/regex.ts';

/**
 * Regular expressions of schemas and of rules. Their engine is as large as all forms together, so it is loaded when an
 * expression is first used. Until then, expressions are left to the service.
 */

const compile = createAtom<typeof compileExpression | undefined>(undefined);

let loading: Promise<void> | undefined;

/** Emits once the engine is loaded. */
export const expressionEngine = compile;

export const loadExpressions = (): Promise<void> => {
  loading ??= import('../../schema/regex.ts').then(
    ({ compileExpression }) => compile.set(() => compileExpression),
    () => {
      // The next expression loads it again.
      loading = undefined;
    },
  );
  return loading;
};

/** Waits if the engine is being loaded. */
export const expressionsReady = async (): Promise<void> => loading;

/** Undefined before the engine is loaded, and for an expression that the service does not support. */
export const expressionOf = (source: string): RE2JS | undefined => {
  const engine = compile.get();
  if (!engine) {
    void loadExpressions();
    return undefined;
  }
  const pattern = engine(source);
  return pattern instanceof Invalid ? undefined : pattern;
};
