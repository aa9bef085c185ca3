import { isObject, type JsonObject } from '../../../data/guard.ts';
import { sectionOf } from '../../../data/spec.ts';
import { expressionOf } from '../../../schema-form/expressions.ts';
import { globOf } from '../../tools/tool.ts';
import { textsOf, withSection } from '../draft.ts';

/** The decision of the permission plugin for each tool: deny beats allow, allow beats ask (console.md 4.3.3). */

export type Behavior = 'allow' | 'ask' | 'deny';

type Rule = {
  text: string;
  behavior: Behavior;
  /** The rule also checks arguments, so the tool alone does not determine the decision. */
  isConditional: boolean;
  matches: (tool: string) => boolean;
};

export type Permission = {
  tool: string;
  behavior: Behavior;
  /** The deciding rule; undefined if the default applies. */
  by: string | undefined;
  /** Rules on arguments that may lead to another decision. */
  conditional: readonly string[];
};

/** Strongest first. */
const RANK: readonly Behavior[] = ['deny', 'allow', 'ask'];

/** In the order in which they are offered. */
export const BEHAVIORS = ['allow', 'ask', 'deny'] as const;

const behaviorOf = (value: unknown): Behavior | undefined => RANK.find((known) => known === value);

export const isPermissionOn = (spec: JsonObject): boolean => {
  const filter = textsOf(spec.active_hook_filter);
  return (
    textsOf(spec.plugin_ids).includes('permission') && (filter.length === 0 || filter.includes('permission'))
  );
};

const matcherOf = (name: string): ((tool: string) => boolean) => {
  const regex = /^\/(.*)\/$/s.exec(name);
  if (!regex) return globOf(name);
  const pattern = expressionOf(regex[1] ?? '');
  return (tool) => pattern?.test(tool) ?? false;
};

const ruleOf = (value: unknown): Rule[] => {
  if (!isObject(value) || typeof value.tool !== 'string') return [];
  const behavior = behaviorOf(value.behavior) ?? 'ask';
  const at = value.tool.startsWith('/') ? -1 : value.tool.indexOf('(');
  const name = at < 0 ? value.tool : value.tool.slice(0, at);
  return [{ text: value.tool, behavior, isConditional: at >= 0, matches: matcherOf(name.trim()) }];
};

export const permissionSection = (spec: JsonObject): { fallback: Behavior; rules: Rule[] } => {
  const section = sectionOf(spec, 'permission');
  return {
    fallback: behaviorOf(section.default_behavior) ?? 'ask',
    rules: rulesOf(section).flatMap(ruleOf),
  };
};

/** Permissions according to the spec. Everything is allowed if the plugin is not active. */
export const permissionsOf = (spec: JsonObject, tools: readonly string[]): Permission[] => {
  if (!isPermissionOn(spec)) {
    return tools.map((tool) => ({ tool, behavior: 'allow', by: undefined, conditional: [] }));
  }
  const { fallback, rules } = permissionSection(spec);
  return tools.map((tool) => {
    const matching = rules.filter((rule) => rule.matches(tool));
    const plain = matching.filter((rule) => !rule.isConditional);
    const deciding = RANK.flatMap((behavior) => plain.filter((rule) => rule.behavior === behavior))[0];
    return {
      tool,
      behavior: deciding?.behavior ?? fallback,
      by: deciding?.text,
      conditional: matching
        .filter((rule) => rule.isConditional)
        .map((rule) => `${rule.behavior} ${rule.text}`),
    };
  });
};

/**
 * The fields that set the decision for one tool. Without the plugin, which this enables, all other calls are
 * allowed.
 */
export const withDecision = (spec: JsonObject, tool: string, behavior: Behavior): JsonObject => {
  const section = sectionOf(spec, 'permission');
  const rules = rulesOf(section).filter((rule) => rule.tool !== tool);
  const before = { ...section, ...(!isPermissionOn(spec) && { default_behavior: 'allow' }), rules };
  const [without] = permissionsOf({ ...ON, sections: { permission: before } }, [tool]);
  const own = without?.behavior === behavior ? [] : [{ tool, behavior }];
  const filter = textsOf(spec.active_hook_filter);
  return {
    plugin_ids: [...new Set([...textsOf(spec.plugin_ids), 'permission'])],
    ...(filter.length > 0 && { active_hook_filter: [...new Set([...filter, 'permission'])] }),
    ...withSection(spec, 'permission', { ...before, rules: [...rules, ...own] }),
  };
};

const ON = { plugin_ids: ['permission'] };

// ---- Rules while they are edited ----

const rulesOf = (section: JsonObject): JsonObject[] =>
  Array.isArray(section.rules) ? section.rules.filter(isObject) : [];

type RuleRow = {
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
