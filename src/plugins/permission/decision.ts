import { z } from 'zod';
import type { Json } from '../../schema/json.ts';
import { Invalid } from '../../schema/outcome.ts';
import { type StateUpdate, update } from '../../tools/state.ts';
import type { GatedCall } from '../../tools/tool.ts';
import { isApproval } from '../../tools/verdict.ts';
import type { HookContext } from '../plugin.ts';
import { type Behavior, tryCompileRule } from './policy.ts';
import { type GrantedRule, permissionPolicy } from './state.ts';
import { escapeLiteral } from './wildcard.ts';

/**
 * The payload of a decision on a permission ticket, in addition to its outcome:
 *
 *     { "approved": true, "arguments": {…}, "remember": "thread", "pattern": "Bash(git *)" }
 *
 * `arguments` replace those of the call; the tool validates them like those of the model. `remember` stores the
 * decision as a rule: `once` (the default) stores nothing; `session`, `thread` and `project` all store it in the state
 * of the thread, the widest scope that exists, so it applies to later runs of the thread for the same user, while the
 * author of the decision has the grant to decide (identity.md 4, rule 5). The rule applies to the tool,
 * or to `pattern`, which must name the tool of the call and may restrict its arguments.
 */

const KEPT = ['session', 'thread', 'project'] as const;

const MAX_PATTERN = 1024;

const Memory = z.object({
  remember: z.enum(KEPT),
  pattern: z.string().max(MAX_PATTERN).optional(),
});

/** Returns the problem with the rule that a decision asks to store, or undefined. */
export const memoryProblem = (payload: Json, tool: string): string | undefined => {
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload)) return undefined;
  const { remember, pattern } = payload;
  if (remember !== undefined && remember !== null && !REMEMBER.some((each) => each === remember))
    return `remember must be one of ${REMEMBER.join(', ')} (got ${JSON.stringify(remember)})`;
  if (pattern === undefined || pattern === null) return undefined;
  if (typeof pattern !== 'string' || pattern.length > MAX_PATTERN)
    return `pattern must be a text of at most ${MAX_PATTERN} characters`;
  return patternProblem(pattern, tool);
};

/** Whether a decision asks to store a rule. */
export const isRemembered = (payload: Json): boolean => Memory.safeParse(payload).success;

const REMEMBER = ['once', ...KEPT];

const patternProblem = (pattern: string, tool: string): string | undefined => {
  const compiled = tryCompileRule({ tool: pattern, behavior: 'allow' });
  if (compiled instanceof Invalid) return compiled.message;
  const { kind } = compiled.pattern.tool;
  return kind === 'exact' && compiled.isAboutTool(tool)
    ? undefined
    : `pattern must name the tool '${tool}' and may narrow its arguments (got ${JSON.stringify(pattern)})`;
};

/** The state update with the rule that a decision stores, if any. */
export const rememberDecision = (
  { name, decision, changed_at = 0 }: GatedCall,
  { state, now, user }: Pick<HookContext, 'state' | 'now' | 'user'>,
  default_behavior: Behavior,
): StateUpdate | undefined => {
  const memory = Memory.safeParse(decision?.result);
  if (!decision || !memory.success) return undefined;
  const { remember, pattern = escapeLiteral(name) } = memory.data;
  const behavior = isApproval(decision) ? 'allow' : 'deny';
  if (patternProblem(pattern, name) !== undefined) return undefined;
  const rules: readonly GrantedRule[] = state.get(permissionPolicy)?.rules ?? [];
  const { principal: author } = decision;
  const known = rules.find(
    (rule) => rule.tool === pattern && rule.behavior === behavior && rule.user === user,
  );
  // A rule older than the definition of the tool is renewed, and so is one of another author.
  if (known && known.granted_at >= changed_at && known.author?.user === author?.user) return undefined;
  const rule: GrantedRule = {
    tool: pattern,
    behavior,
    scope: remember,
    decision_id: decision.decision_id,
    ...(decision.reason !== undefined && { reason: decision.reason }),
    ...(user !== undefined && { user }),
    ...(author && { author }),
    granted_at: now(),
  };
  return update(permissionPolicy, {
    default_behavior,
    rules: [...rules.filter((each) => each !== known), rule],
  });
};
