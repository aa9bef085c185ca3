import { RE2JS } from 're2js';

/**
 * Regular expressions from configuration.
 *
 * Guarantees: a search takes time linear in the text, whatever the pattern; the engine has no backtracking.
 * Relies on RE2 syntax: look-around and back references are refused as invalid.
 * Costs: text length times program size in the worst case. A short pattern with nested counts can compile to a
 * huge program, so programs past a limit are refused too.
 */

const MAX_PROGRAM = 4096;

type Compiled = { test(text: string): boolean } | { error: string };

export const compileRegex = (pattern: string): Compiled => {
  try {
    const compiled = RE2JS.compile(pattern);
    if (compiled.programSize() > MAX_PROGRAM) return { error: 'the expression is too large' };
    return { test: (text) => compiled.test(text) };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
};
