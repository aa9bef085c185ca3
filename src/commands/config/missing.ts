import type { Bundle, BundleNamespace } from './bundle.ts';

/** Filters out validation errors about references to entries that the document itself contains. */

const REFERENCES = /^invalid payload: invalid managed config: (?:registry validation failed: )?(.*)$/s;

const MISSING: readonly [RegExp, BundleNamespace[]][] = [
  [/references missing provider '(.*)'$/, ['providers']],
  [/references missing model '(.*)'$/, ['models', 'model-pools']],
  [/delegates to missing agent '(.*)'$/, ['agents']],
];

/** A skill may name tools of a server that is not connected yet. */
const MCP_TOOL = /references unknown tool 'mcp__.*'$/;

export const remainingProblems = (message: string, bundle: Bundle): string[] => {
  const parts = REFERENCES.exec(message)?.[1]?.split('; ');
  return parts ? parts.filter((part) => !isBrought(part, bundle)) : [message];
};

const isBrought = (problem: string, bundle: Bundle): boolean => {
  if (MCP_TOOL.test(problem)) return (bundle['mcp-servers'] ?? []).length > 0;
  return MISSING.some(([pattern, namespaces]) => {
    const id = pattern.exec(problem)?.[1];
    return namespaces.some((name) => bundle[name]?.some((entry) => entry.id === id));
  });
};
