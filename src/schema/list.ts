import { z } from 'zod';
import { phrases, toProblem } from './phrases.ts';

/**
 * A list in external input. It has a maximum length, and errors of a long list are limited to a readable number: zod by
 * default creates an issue for each invalid item, which costs more than the item.
 */
export const listOf = <Item extends z.ZodType>(item: Item, most = MOST_ITEMS) =>
  z.preprocess((given: z.input<Item>[], context) => {
    if (Array.isArray(given) && given.length > LONG && given.length <= most) {
      context.issues.push(...firstIssues(item, given));
    }
    return given;
  }, z.array(item).max(most));

/** For lists written by people: tools, answers, names. */
const MOST_ITEMS = 1000;

/** For conversations, which clients send as a whole. */
export const MOST_MESSAGES = 10_000;

/** A list up to this length is validated only once. */
const LONG = 32;
const ENOUGH = 8;

const firstIssues = (item: z.ZodType, given: readonly unknown[]): z.core.$ZodRawIssue[] => {
  const found: z.core.$ZodRawIssue[] = [];
  for (const [index, each] of given.entries()) {
    for (const issue of item.safeParse(each, phrases).error?.issues ?? []) {
      const { path, text } = toProblem(issue, [index]);
      found.push({ code: 'custom', input: each, path: [...path], message: text });
    }
    if (found.length >= ENOUGH) break;
  }
  return found;
};
