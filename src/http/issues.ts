import type { z } from 'zod';
import { listed, pathText, problemOf } from '../schema/phrases.ts';

/** Says in one line what a schema found wrong and where: `messages[0].content: must be a string, not an array`. */
export const describeIssues = ({ issues }: z.core.$ZodError): string =>
  listed(issues.map(describe)).join('; ');

const describe = (issue: z.core.$ZodIssue): string => {
  const { path, text, missing } = problemOf(issue);
  const at = pathText(path);
  if (at === '') return text;
  return missing ? `missing field '${at}'` : `${at}: ${text}`;
};
