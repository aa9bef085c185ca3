import { createHash } from 'node:crypto';
import {
  BUDGET_PROPERTIES,
  type BudgetProperty,
  type BudgetSpec,
  type BudgetSubject,
} from '../schema/budget.ts';
import { compileGlob, type Glob } from '../schema/glob.ts';
import { nanoLimit } from './money.ts';

/** An entry of the configuration, compiled once. */
export type Budget = {
  readonly spec: BudgetSpec;
  /**
   * The counters of two versions of an entry are the same if both select and divide alike; a change of a limit keeps
   * what was spent.
   */
  readonly identity: string;
  /** Whether each run has its own counter. */
  readonly isPerRun: boolean;
  /** Undefined without such a limit. */
  readonly tokens: number | undefined;
  readonly nano: number | undefined;
  readonly matches: (subject: BudgetSubject) => boolean;
  /** Returns the values of `per`, in a fixed order, as one text. */
  readonly combinationOf: (subject: BudgetSubject) => string;
  /** Like `combinationOf`, for counters in memory only: cheaper, and never read again. */
  readonly placeOf: (subject: BudgetSubject) => string;
  /** Returns the values in such a text, by property. */
  readonly valuesIn: (combination: string) => Record<string, string>;
};

export const compileBudget = (spec: BudgetSpec): Budget => {
  const { match, per, window, limits } = spec;
  const patterns = Object.entries(match)
    .filter(([, text]) => text !== undefined && text !== '*')
    // The keys of a parsed match are properties.
    .map(([property, text]): [BudgetProperty, Glob] => [
      property as BudgetProperty,
      compileGlob(text ?? '*'),
    ]);
  const properties = BUDGET_PROPERTIES.filter((property) => per.includes(property));
  return {
    spec,
    identity: createHash('sha256')
      .update(JSON.stringify([sorted(match), properties, window?.every, window?.zone ?? 'UTC']))
      .digest('hex')
      .slice(0, 16),
    isPerRun: per.includes('run'),
    tokens: limits.tokens,
    nano: limits.usd === undefined ? undefined : nanoLimit(limits.usd),
    matches: (subject) => patterns.every(([property, glob]) => glob(subject[property])),
    combinationOf: (subject) => JSON.stringify(properties.map((property) => subject[property])),
    placeOf: placing(properties),
    valuesIn(combination) {
      const values: unknown[] = JSON.parse(combination);
      return Object.fromEntries(properties.map((property, index) => [property, String(values[index])]));
    },
  };
};

/** No value of a subject contains the separator. */
const placing = (properties: readonly BudgetProperty[]) => {
  const [first, second, ...others] = properties;
  if (first === undefined) return () => '';
  if (second === undefined) return (subject: BudgetSubject) => subject[first];
  return (subject: BudgetSubject) => {
    let place = `${subject[first]}\0${subject[second]}`;
    for (const property of others) place += `\0${subject[property]}`;
    return place;
  };
};

const sorted = (match: BudgetSpec['match']) =>
  Object.entries(match)
    .filter(([, text]) => text !== undefined && text !== '*')
    .sort(([one], [other]) => (one < other ? -1 : 1));
