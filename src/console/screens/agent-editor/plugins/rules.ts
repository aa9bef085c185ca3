import { isObject, type JsonObject } from '../../../data/guard.ts';
import { RANK, type Rule, ruleOf } from '../tools/permission.ts';

/** Permission rules while they are edited. */

export const rulesOf = (section: JsonObject): JsonObject[] =>
  Array.isArray(section.rules) ? section.rules.filter(isObject) : [];

export type RuleRow = {
  matches: readonly string[];
  /** Index of a rule that always takes precedence over this one. */
  overruledBy: number | undefined;
};

const rankOf = ({ behavior }: Rule): number => RANK.indexOf(behavior);

const NONE: Rule = { text: '', behavior: 'ask', isConditional: false, matches: () => false };

export const ruleRows = (section: JsonObject, tools: readonly string[]): RuleRow[] => {
  const rules = rulesOf(section);
  const read = rules.map((rule) => ruleOf(rule)[0] ?? NONE);
  const matches = read.map((rule) => tools.filter(rule.matches));
  const overrules = (other: number, one: number): boolean => {
    const [strong, weak] = [read[other] ?? NONE, read[one] ?? NONE];
    if (strong.isConditional || rankOf(strong) >= rankOf(weak)) return false;
    const found = matches[one] ?? [];
    return strong.text === weak.text || (found.length > 0 && found.every(strong.matches));
  };
  return rules.map((_, index) => {
    const by = rules.findIndex((_rule, other) => overrules(other, index));
    return { matches: matches[index] ?? [], overruledBy: by < 0 ? undefined : by };
  });
};
