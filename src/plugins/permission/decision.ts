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
 * What a decision on a permission ticket says beside yes or no, in its payload:
 *
 *     { "approved": true, "arguments": {…}, "remember": "thread", "pattern": "Bash(git *)" }
 *
 * `arguments` replace those of the call; the tool checks them as it checks the model's. `remember` keeps the
 * decision as a rule: `once` (the default) keeps nothing; `session`, `thread` and `project` keep it in the state of
 * the thread, the widest memory of a decision there is, so all three hold for later runs of this thread. The rule
 * is about the tool, or about `pattern`, which names the tool of the call and may narrow its arguments.
 */

const KEPT = ['session', 'thread', 'project'] as const;

const MAX_PATTERN = 1024;

const Memory = z.object({
  remember: z.enum(KEPT),
  pattern: z.string().max(MAX_PATTERN).optional(),
});

/** What is wrong with the memory that a decision on a call of this tool asks for; undefined when nothing is. */
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

const REMEMBER = ['once', ...KEPT];

const patternProblem = (pattern: string, tool: string): string | undefined => {
  const compiled = tryCompileRule({ tool: pattern, behavior: 'allow' });
  if (compiled instanceof Invalid) return compiled.message;
  const { kind } = compiled.pattern.tool;
  return kind === 'exact' && compiled.isAboutTool(tool)
    ? undefined
    : `pattern must name the tool '${tool}' and may narrow its arguments (got ${JSON.stringify(pattern)})`;
};

/** The state with the rule that a decided call leaves behind, when it leaves one. */
export const rememberDecision = (
  { name, decision, changed_at = 0 }: GatedCall,
  { state, now }: Pick<HookContext, 'state' | 'now'>,
  default_behavior: Behavior,
): StateUpdate | undefined => {
  const memory = Memory.safeParse(decision?.result);
  if (!decision || !memory.success) return undefined;
  const { remember, pattern = escapeLiteral(name) } = memory.data;
  const behavior = isApproval(decision) ? 'allow' : 'deny';
  if (patternProblem(pattern, name) !== undefined) return undefined;
  const rules: readonly GrantedRule[] = state.get(permissionPolicy)?.rules ?? [];
  const known = rules.find((rule) => rule.tool === pattern && rule.behavior === behavior);
  // A rule that is older than the definition of the tool is renewed.
  if (known && known.granted_at >= changed_at) return undefined;
  const rule: GrantedRule = {
    tool: pattern,
    behavior,
    scope: remember,
    decision_id: decision.decision_id,
    ...(decision.reason !== undefined && { reason: decision.reason }),
    granted_at: now(),
  };
  return update(permissionPolicy, {
    default_behavior,
    rules: [...rules.filter((each) => each !== known), rule],
  });
};
