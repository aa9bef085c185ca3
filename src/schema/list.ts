import { z } from 'zod';
import { phrases, problemOf } from './phrases.ts';

/**
 * A list that a stranger sends. It has a cap, and of a long one that is wrong only as much is told as a person reads:
 * zod by itself makes an issue for each wrong item, which costs more than the item.
 */
export const listOf = <Item extends z.ZodType>(item: Item, most = MOST_ITEMS) =>
  z.preprocess((given: z.input<Item>[], context) => {
    if (Array.isArray(given) && given.length > LONG && given.length <= most) {
      context.issues.push(...firstIssues(item, given));
    }
    return given;
  }, z.array(item).max(most));

/** For lists that people write: tools, answers, names. */
const MOST_ITEMS = 1000;

/** For conversations, of which clients send all that they have. */
export const MOST_MESSAGES = 10_000;

/** A list up to here is looked through once only. */
const LONG = 32;
const ENOUGH = 8;

const firstIssues = (item: z.ZodType, given: readonly unknown[]): z.core.$ZodRawIssue[] => {
  const found: z.core.$ZodRawIssue[] = [];
  for (const [index, each] of given.entries()) {
    for (const issue of item.safeParse(each, phrases).error?.issues ?? []) {
      const { path, text } = problemOf(issue, [index]);
      found.push({ code: 'custom', input: each, path: [...path], message: text });
    }
    if (found.length >= ENOUGH) break;
  }
  return found;
};
