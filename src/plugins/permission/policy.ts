import { z } from 'zod';
import { Invalid } from '../../schema/outcome.ts';
import { OPERATORS } from './condition.ts';
import { type Call, compilePattern, compileTool } from './match.ts';
import { type Pattern, parsePattern } from './pattern.ts';

/**
 * Evaluates the rules for a call (agent-loop.md 14.1): deny beats allow beats ask, regardless of order and specificity;
 * but an ask that others must decide beats allow.
 * Of the rules with the winning behavior, the most specific one is reported; it also sets the timeout of an ask. An
 * added rule can therefore make a call stricter, but never allows a denied one.
 */

export const Behavior = z.enum(['allow', 'ask', 'deny']);
export type Behavior = z.infer<typeof Behavior>;

/** The users who decide a call: `others` excludes those behind the run (identity.md 4). */
export const Deciders = z.enum(['any', 'others']);
export type Deciders = z.infer<typeof Deciders>;

export type Rule = {
  tool: string;
  behavior: Behavior;
  timeout_secs?: number | undefined;
  on_timeout?: 'deny' | 'approve' | undefined;
  /** For rules that ask. */
  deciders?: Deciders | undefined;
};

/** Applies to calls that no rule matches. */
export type Otherwise = { behavior: Behavior; deciders: Deciders };

export type CompiledRule = {
  readonly rule: Rule;
  readonly pattern: Pattern;
  readonly specificity: readonly number[];
  matches(call: Call): boolean;
  isAboutTool(name: string): boolean;
};

/** `rule` is undefined when no rule matched and the default applies. */
export type Verdict = { behavior: Behavior; rule: Rule | undefined; deciders: Deciders };

/** The first that matches wins. */
const STRICTEST_FIRST: readonly Otherwise[] = [
  { behavior: 'deny', deciders: 'any' },
  { behavior: 'ask', deciders: 'others' },
  { behavior: 'allow', deciders: 'any' },
  { behavior: 'ask', deciders: 'any' },
];

/** @throws Invalid for an incorrect pattern */
export const compileRule = (rule: Rule): CompiledRule => {
  const pattern = parsePattern(rule.tool);
  return {
    rule,
    pattern,
    specificity: specificityOf(pattern),
    matches: compilePattern(pattern),
    isAboutTool: compileTool(pattern.tool),
  };
};

/** Returns the error of an incorrect pattern instead of throwing it. */
export const tryCompileRule = (rule: Rule): CompiledRule | Invalid => {
  try {
    return compileRule(rule);
  } catch (error) {
    if (error instanceof Invalid) return error;
    throw error;
  }
};

export const evaluateRules = (rules: readonly CompiledRule[], otherwise: Otherwise, call: Call): Verdict => {
  const matching = rules.filter((rule) => rule.matches(call));
  for (const { behavior, deciders } of STRICTEST_FIRST) {
    const found = matching.filter(
      ({ rule }) => rule.behavior === behavior && (rule.deciders ?? 'any') === deciders,
    );
    if (found.length > 0) return { behavior, deciders, rule: found.reduce(moreSpecific).rule };
  }
  return { ...otherwise, rule: undefined };
};

/** True for rules that deny a tool regardless of arguments, so that the tool is not offered to the model. */
export const deniesTool = ({ rule, pattern }: CompiledRule): boolean =>
  rule.behavior === 'deny' && pattern.args.kind === 'any';

/** Returns the first of two equally specific rules. */
const moreSpecific = (one: CompiledRule, other: CompiledRule): CompiledRule => {
  for (const [position, value] of one.specificity.entries()) {
    const difference = value - (other.specificity[position] ?? 0);
    if (difference !== 0) return difference > 0 ? one : other;
  }
  return one;
};

const TOOL_RANK = { exact: 2, glob: 1, regex: 0 } as const satisfies Record<Pattern['tool']['kind'], number>;

/** Values to compare in order: the tool part, presence of arguments, number of conditions, precision of operators. */
const specificityOf = ({ tool, args }: Pattern): number[] => {
  const operators = args.kind === 'conditions' ? args.conditions.map(({ operator }) => operator) : [];
  if (args.kind === 'primary') operators.push('~');
  const precision = operators.map((operator) => OPERATORS.length - OPERATORS.indexOf(operator));
  return [
    TOOL_RANK[tool.kind],
    operators.length > 0 ? 1 : 0,
    operators.length,
    precision.reduce((sum, one) => sum + one, 0),
  ];
};
