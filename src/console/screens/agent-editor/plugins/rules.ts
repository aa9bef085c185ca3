import { isObject, type JsonObject } from '../../../data/guard.ts';
import { type Behavior, RANK, type Rule, ruleOf } from '../tools/permission.ts';

/** Rules of the permission plugin, as they are edited: their order has no effect, so they are grouped by what they do. */

export const rulesOf = (section: JsonObject): JsonObject[] =>
  Array.isArray(section.rules) ? section.rules.filter(isObject) : [];

export type RuleRow = {
  /** Its place in the section. */
  index: number;
  rule: JsonObject;
  behavior: Behavior;
  matches: readonly string[];
  /** The rule that always decides before it, by its place. */
  overruledBy: number | undefined;
};

const rankOf = ({ behavior }: Rule): number => RANK.indexOf(behavior);

const NONE: Rule = { text: '', behavior: 'ask', isConditional: false, matches: () => false };

/** Groups in the order in which they count, rules in the order in which they were made. */
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
  return rules
    .map((rule, index) => {
      const by = rules.findIndex((_, other) => overrules(other, index));
      return {
        index,
        rule,
        behavior: read[index]?.behavior ?? 'ask',
        matches: matches[index] ?? [],
        overruledBy: by < 0 ? undefined : by,
      };
    })
    .sort((one, other) => RANK.indexOf(one.behavior) - RANK.indexOf(other.behavior));
};
