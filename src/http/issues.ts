import type { z } from 'zod';

/** Says in one line what a schema found wrong and where: `messages[0].content: expected string, received array`. */
export const describeIssues = (error: z.core.$ZodError): string => {
  const lines = error.issues.slice(0, MAX_ISSUES).map((issue) => describe(issue, []));
  if (error.issues.length > MAX_ISSUES) lines.push(`and ${error.issues.length - MAX_ISSUES} more`);
  return lines.join('; ');
};

const MAX_ISSUES = 5;

const describe = (issue: z.core.$ZodIssue, above: readonly PropertyKey[]): string => {
  const path = [...above, ...issue.path];
  if (issue.code === 'invalid_union') {
    const nearest = nearestBranch(issue.errors);
    if (nearest) return describe(nearest, path);
  }
  const message = issue.message.replace(/^Invalid input: /, '');
  return path.length === 0 ? message : `${formatPath(path)}: ${message}`;
};

/** Of the forms that a union allows, the one that got furthest into the input is the one that was meant. */
const nearestBranch = (branches: readonly (readonly z.core.$ZodIssue[])[]): z.core.$ZodIssue | undefined => {
  const [first, ...others] = branches.flatMap(([issue]) => (issue ? [issue] : []));
  if (!first) return undefined;
  return others.reduce((best, issue) => (issue.path.length > best.path.length ? issue : best), first);
};

const formatPath = (path: readonly PropertyKey[]): string =>
  path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`;
    return text === '' ? String(key) : `${text}.${String(key)}`;
  }, '');
